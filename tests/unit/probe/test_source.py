"""Reading and rewriting PTX: whole programs keep their statements, and damaged ones are refused or keep theirs, too."""

from __future__ import annotations

import random

import pytest

from benchguard.probe.bounds.check import Place
from benchguard.probe.bounds.rewrite import rewrite
from benchguard.probe.source import Source, SourceError, read_source, written
from tests.conftest import ROOT

CORPUS = sorted((ROOT / "tests" / "corpus" / "ptx").rglob("*.ptx"))
MUTATIONS = 150


def instructions(source: Source) -> list[list[str]]:
    return [[each.text for each in function.instructions] for function in source.functions]


def assert_same(source: Source) -> None:
    assert instructions(read_source(written(source).encode("latin-1"))) == instructions(source)


def test_compiled_programs_keep_their_instructions() -> None:
    """Texts that nvcc wrote."""
    assert len(CORPUS) > 20
    for path in CORPUS[::5]:
        assert_same(read_source(path.read_bytes()))


@pytest.mark.full
def test_all_compiled_programs_are_rewritten() -> None:
    for path in CORPUS:
        source = read_source(path.read_bytes())
        assert_same(source)
        kernels = [each.name for each in source.functions if each.is_entry]
        assert rewrite(path.read_bytes(), kernels, Place(1 << 40, 2 << 40)).text


def test_mutated_programs_are_refused_or_keep_their_instructions() -> None:
    draw = random.Random(29)
    small = [path for path in CORPUS if path.stat().st_size < 12_000]
    parts = [
        b"{",
        b"}",
        b";",
        b'"',
        b"/*",
        b"*/",
        b"//",
        b"[",
        b".loc 1 2",
        b"@%p1 ",
        b"\x00",
        b"\n",
        b".entry k(",
        b"=",
        b"<",
    ]
    refused = 0
    for _ in range(MUTATIONS):
        raw = bytearray(draw.choice(small).read_bytes())
        for _ in range(draw.randrange(1, 5)):
            at = draw.randrange(len(raw))
            raw[at : at + draw.randrange(12)] = draw.choice(parts)
        try:
            source = read_source(bytes(raw))
            assert_same(source)
            kernels = [each.name for each in source.functions if each.is_entry and each.items is not None]
            rewrite(bytes(raw), kernels, Place(1 << 40, 2 << 40))
        except SourceError:
            refused += 1
    assert 0 < refused < MUTATIONS


@pytest.mark.parametrize(
    "text",
    [
        "/* // */ st.global.u32 [%rd1], 1; // */",
        "st.global.u32 /* ; */ [%rd1], 1;",
        "@%p1 st.global.u32 [%rd1], // [%rd2]\n 1;",
    ],
)
def test_comment_hides_no_instruction(text: str) -> None:
    source = read_source(f".version 8.0\n.entry k()\n{{\n{text}\n}}\n".encode())
    (instruction,) = source.functions[0].instructions
    assert instruction.opcode == "st.global.u32" and "/" not in written(source)


def test_debug_target_is_dropped_with_the_debug_sections() -> None:
    """ptxas 13.0 refuses one without the other."""
    source = read_source(b".version 8.0\n.target sm_90, debug\n.section .debug_info { .b8 1 }\n")
    assert written(source).split("\n")[1] == ".target sm_90"


@pytest.mark.parametrize("odd", ["#define ld st\n", "st.global.u32 \\\n", "\x1b[2J", "é"])
def test_odd_character_is_refused(odd: str) -> None:
    with pytest.raises(SourceError, match="unexpected character"):
        read_source(f".version 8.0\n{odd}".encode())


def test_missing_kernel_is_refused() -> None:
    with pytest.raises(SourceError, match="has no kernel other"):
        rewrite(b".version 8.0\n.entry k() { ret; }\n", ["other"], Place(0, 0))
