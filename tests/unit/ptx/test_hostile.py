"""Texts that no compiler wrote: each is refused with a reason, or is a module; nothing else happens."""

from __future__ import annotations

import random
import struct
import subprocess
from pathlib import Path

import pytest

from tests.unit.ptx.engine import SOURCES, Engine, PtxError

HERE = Path(__file__).parent
TEXT = (HERE / "kernels" / "kernels_90.ptx").read_bytes()
WORDS = [
    b".reg .b32 %r<9999999>;",
    b"{{{{",
    b"}",
    b"[",
    b"0f",
    b".param .b8 x[99999999999];",
    b"%p1",
    b"@!",
    b"call (a), f, (b);",
    b".global .align 3 .b8 v[4];",
    b"bra $L;",
    b"-",
    b"\0",
    b"\xff",
    b"ld.global.v4.f64 {%r1,%r2,%r3,%r4}, [%rd1];",
    b".shared .b8 s[0xffffffffff];",
    b"mov.pred %p1, %r1;",
    b"selp.b32 %r1, %r2, %r3, %r4;",
]


@pytest.fixture(scope="module")
def parser(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The parser under AddressSanitizer and UndefinedBehaviorSanitizer."""
    program = tmp_path_factory.mktemp("parse") / "parse"
    sources = [HERE / "programs" / "parse.c", *sorted(SOURCES.glob("*.c"))]
    flags = [
        "-std=gnu11",
        "-D_GNU_SOURCE",
        "-O1",
        "-g",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover",
    ]
    subprocess.run(
        ["cc", *flags, f"-I{SOURCES}", *map(str, sources), "-o", program, "-lm", "-pthread"], check=True
    )
    return program


def mutated(source: random.Random) -> bytes:
    """A few functions of real PTX with a few things wrong."""
    text = bytearray(TEXT)
    for _ in range(source.randint(1, 6)):
        at = source.randrange(len(text))
        kind = source.randrange(4)
        if kind == 0:
            text[at] = source.randrange(256)
        elif kind == 1:
            del text[at : at + source.randrange(1, 200)]
        elif kind == 2:
            text[at:at] = source.choice(WORDS)
        else:
            other = source.randrange(len(text))
            text[at:at] = text[other : other + source.randrange(1, 300)]
    return bytes(text[: source.choice([len(text), source.randrange(len(text) + 1)])])


def test_mutated_texts_are_accepted_or_refused_with_a_reason(parser: Path) -> None:
    source = random.Random(2026)
    cases = [mutated(source) for _ in range(1500)]
    data = b"".join(struct.pack("<I", len(case)) + case for case in cases)
    done = subprocess.run([parser], input=data, capture_output=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    answers = done.stdout.split()
    assert len(answers) == len(cases)
    assert answers.count(b"2") == 0
    assert answers.count(b"1") > 500


@pytest.mark.parametrize(
    ("instruction", "named"),
    [
        ("wgmma.fence.sync.aligned;", "wgmma.fence.sync.aligned"),
        ("frobnicate.u32 %r1, %r2;", "frobnicate.u32"),
        ("add.u32.loudly %r1, %r1, %r2;", "add.u32.loudly"),
        ("add.u32 %r1, %r9, %r2;", "%r9"),
        ("bra $nowhere;", "$nowhere"),
        ("selp.b32 %r1, %r1, %r2, %r1;", "%r1"),
    ],
)
def test_what_is_not_executed_is_refused_with_its_line(engine: Engine, instruction: str, named: str) -> None:
    head = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<4>;\n"
    with pytest.raises(PtxError, match="line 7") as caught:
        engine.load(f"{head}{instruction}\nret;\n}}\n")
    assert named in str(caught.value)
