"""Globals that an image has and the capture does not list begin every sample as the image says."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from benchguard.capture.layout import ARENA
from benchguard.capture.model import Global, Kernel
from tests.support.captures import COUNTER, GRANULE, PTX_HEAD, Builder
from tests.unit.replay.engine_captures import POINTER, integers, one_kernel
from tests.unit.replay.engine_support import BAD_CAPTURE, on_sim, replayed

# Stores a global's number at `at`, and adds 1 to the global.
COUNTING = """
{declaration}
.visible .entry counting(.param .u64 at)
{{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [at];
    mov.u64 %rd2, counter;
    ld.global.u32 %r1, [%rd2];
    st.global.u32 [%rd1], %r1;
    add.u32 %r2, %r1, 1;
    st.global.u32 [%rd2], %r2;
    ret;
}}
"""

DECLARATIONS = {
    "external": ".visible .global .align 4 .u32 counter = 7;",
    "static": ".global .align 4 .u32 counter = 7;",
    "one of several": ".global .align 4 .u32 other = 3, counter = 7;",
}


def counting_capture(path: Path, declaration: str) -> Path:
    return one_kernel(path, COUNTING.format(declaration=declaration), "counting", bytes(16))


@pytest.mark.parametrize("cold_code", [False, True])
@pytest.mark.parametrize("declaration", DECLARATIONS.values(), ids=DECLARATIONS)
def test_unlisted_global_begins_every_sample_as_in_its_image(
    tmp_path: Path, declaration: str, cold_code: bool
) -> None:
    path = counting_capture(tmp_path / "x.ncap", declaration)
    (_, prepared), samples = replayed(path, ["samples", 10, ARENA, 4], cold_code=cold_code)
    assert {left for _, left in samples} == {integers([7]).hex()}
    assert prepared["unlisted_globals"] == declaration.count("=")
    assert not prepared["unknown_globals"]


@pytest.mark.skipif(not on_sim, reason="asks the driver of the test for its launches")
@pytest.mark.parametrize(("size", "demotes"), [(4095, 1), (4096, 2)])
def test_cache_policies_are_taken_off_unlisted_globals(
    tmp_path: Path, forgetful_driver: Path, size: int, demotes: int
) -> None:
    """The capture could leave out a table whose lines its kernels mark, to find it in the cache."""
    path = counting_capture(tmp_path / "x.ncap", f"{GLOBAL} .global .b8 table[{size}] = {{1}};")
    log = tmp_path / "calls"
    replayed(
        path, ["measure", 1], cold="flush", driver=str(forgetful_driver), environment={"CALL_LOG": str(log)}
    )
    assert log.read_text().splitlines().count("nb_demote") == demotes


GLOBAL = ".global .align 4 .u32 counter = 7;"
AMBIGUOUS = {
    "quotation mark that C escapes": f'.file 1 "\\"\n{GLOBAL}\n.file 2 "\\"',
    "escaped line end": f"// \\\n/* {GLOBAL} */\n{GLOBAL}",
    "carriage return": f"// \r{GLOBAL}\n{GLOBAL}",
    "plain": f'// it\'s "odd\n.file 1 "a \\ b // c"\r\n/* " */ {GLOBAL}',
}


@pytest.mark.parametrize("kind", AMBIGUOUS)
def test_text_that_readers_divide_in_two_ways_may_have_unknown_globals(tmp_path: Path, kind: str) -> None:
    """A global in such text could be where the engine sees a string or a comment."""
    path = counting_capture(tmp_path / "x.ncap", AMBIGUOUS[kind])
    (_, prepared), _ = replayed(path, ["samples", 1, ARENA, 4])
    assert bool(prepared["unknown_globals"]) == (kind != "plain")


def two_globals(path: Path) -> Path:
    text = COUNTING.format(declaration=".visible .global .align 4 .u32 counter = 7, other = 7;")
    with Builder(path) as builder:
        builder.device()
        module = builder.module(PTX_HEAD + text)
        builder.add(Kernel(module, 8, 8, 0, 0, 1024, "counting", POINTER))
        content = builder.content(struct.pack("<I", 7))
        builder.add(Global(module, COUNTER, 4, "counter", content, content))
        builder.add(Global(module, COUNTER + GRANULE, 4, "other", content, content))
        builder.stream()
        builder.end()
    return path


@pytest.mark.skipif(not on_sim, reason="the driver of the test gives all globals one address")
def test_globals_that_are_one_memory_in_the_replay_are_refused(
    tmp_path: Path, forgetful_driver: Path
) -> None:
    """The capture gives two names two addresses; the addresses that the driver gives count."""
    path = two_globals(tmp_path / "x.ncap")
    assert isinstance(replayed(path, driver=str(forgetful_driver))[0], list)
    alias = {"ONE_GLOBAL": "1"}
    (failed,) = replayed(path, driver=str(forgetful_driver), environment=alias)
    assert failed["status"] == BAD_CAPTURE
    assert "one memory here" in failed["text"]
