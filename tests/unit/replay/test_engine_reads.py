"""Copies to the host: a replay repeats them and compares their bytes on each input set."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from benchguard.capture.layout import ARENA, NOTHING, StreamKind
from benchguard.capture.model import Kernel, Launch, MemcpyDtoH, Parameter, Synchronize
from tests.support.captures import CAPTURES, COUNT, COUNTER, PTX_HEAD, Builder, Global, Memory
from tests.unit.replay.engine_captures import ADD_ONE, ONE, POINTER, REMEMBER, add_one, integers
from tests.unit.replay.engine_support import OTHER_READ, assert_exact, on_sim, replayed

STRICT = {"guard": True, "strict": True}

sim_only = pytest.mark.skipif(not on_sim, reason="asks the CPU driver where our memory is")

# Writes the word at `at`+8 to the address that is stored at `at`.
OVERWRITE = """
.visible .entry overwrite(.param .u64 at)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [at];
    ld.global.u64 %rd2, [%rd1];
    ld.global.u32 %r1, [%rd1+8];
    st.global.u32 [%rd2], %r1;
    ret;
}
"""


def read_capture(path: Path, expected: int = 5, read: int = ARENA, streams: int = 1) -> Path:
    """The host reads a word between two launches of add_one, the second on the last of `streams` streams."""
    with Builder(path) as builder:
        builder.device()
        module = builder.module(PTX_HEAD + ADD_ONE)
        builder.add(Kernel(module, 12, 8, 0, 0, 1024, "add_one", (Parameter(0, 8), Parameter(8, 4))))
        stream = builder.stream()
        for number in range(1, streams):
            stream = builder.stream(0x1000 + number, StreamKind.CREATED, 1)
        builder.memory(Memory(ARENA, integers([4, 7]), integers([6, 7])))
        builder.operation(add_one(0, ARENA, 1))
        content = builder.content(integers([expected]))
        builder.operation(MemcpyDtoH(0, "cuMemcpyDtoH_v2", read, 4, 4, 4, 1, 1, content))
        builder.operation(Synchronize(0))
        builder.operation(add_one(stream, ARENA, 1))
        builder.end()
    return path


@pytest.mark.parametrize("cold", ["none", "flush", "rotate"])
def test_equal_reads_are_accepted_in_each_sample(tmp_path: Path, cold: str) -> None:
    _, verified, samples, checked = replayed(
        CAPTURES["reads"](tmp_path / "x.ncap"), ["verify"], ["measure", 6], ["reads", NOTHING], cold=cold
    )
    assert_exact(verified)
    assert len(samples) == 6 and checked is None


@pytest.mark.parametrize("streams", [1, 2])
@pytest.mark.parametrize("options", [{}, STRICT], ids=["trusted", "strict"])
def test_equal_reads_on_every_input_set_are_accepted(
    tmp_path: Path, options: dict[str, Any], streams: int
) -> None:
    """The sets differ in a word that the host does not read."""
    capture = read_capture(tmp_path / "x.ncap", streams=streams)
    sets = [["input", number, ARENA, integers([4, number]).hex()] for number in range(3)]
    *_, samples, first, last, once = replayed(
        capture, *sets, ["measure", 9], ["reads", 0], ["reads", 2], ["once", 1], **options
    )
    assert len(samples) == 9
    assert (first, last, once) == (None, None, None)


@pytest.mark.parametrize("step", [["measured", 1], ["reads", 1], ["once", 1]], ids=lambda step: step[0])
def test_other_bytes_on_one_input_set_are_refused(tmp_path: Path, step: list[Any]) -> None:
    sets = [["input", number, ARENA, integers([4 + number]).hex()] for number in range(2)]
    *_, right, other = replayed(read_capture(tmp_path / "x.ncap"), *sets, [step[0], 0], step, **STRICT)
    assert right is None or "device_us" in right
    assert other["status"] == OTHER_READ
    assert other["text"] == (
        "operation 1 (copy to the host by cuMemcpyDtoH_v2): of its 4 bytes, those from offset 0 on were 05000000 when "
        "recorded, and are 06000000"
    )


def test_other_bytes_are_accepted_if_reads_are_ignored(tmp_path: Path) -> None:
    capture = read_capture(tmp_path / "x.ncap", expected=50)
    _, refused = replayed(capture, ["measure", 1])
    assert refused["status"] == OTHER_READ
    _, samples, checked = replayed(capture, ["measure", 3], ["reads", NOTHING], ignore_reads=True)
    assert len(samples) == 3 and checked is None


def test_read_of_a_global_follows_the_global(tmp_path: Path) -> None:
    path = tmp_path / "x.ncap"
    with Builder(path) as builder:
        builder.device()
        module = builder.module(COUNT)
        builder.add(Kernel(module, 12, 8, 0, 0, 1024, "count", (Parameter(0, 8), Parameter(8, 4))))
        value = builder.content(integers([45]))
        builder.add(Global(module, COUNTER, 4, "counter", builder.content(integers([40])), value))
        builder.stream()
        builder.memory(Memory(ARENA, integers([100]), integers([105])))
        builder.operation(Launch(0, 0, ONE, ONE, 0, struct.pack("<QI", ARENA, 5)))
        builder.operation(MemcpyDtoH(0, "cuMemcpyDtoH_v2", COUNTER, 4, 4, 4, 1, 1, value))
        builder.end()
    _, verified, samples, notes = replayed(path, ["verify"], ["measure", 3], ["notes"], **STRICT)
    assert_exact(verified)
    assert len(samples) == 3
    assert any("the host reads 4 bytes of device memory in 1 copies" in note for note in notes)


def tampering_capture(path: Path, text: str, name: str) -> Path:
    """The host reads a word of the input; then a kernel gets the address of a pointer that the test aims."""
    with Builder(path) as builder:
        builder.device()
        module = builder.module(PTX_HEAD + text)
        builder.add(Kernel(module, 8, 8, 0, 0, 1024, name, POINTER))
        builder.stream()
        builder.memory(Memory(ARENA, struct.pack("<QII", ARENA + 64, 5, 5), b"", 4096))
        content = builder.content(integers([5]))
        builder.operation(MemcpyDtoH(0, "cuMemcpyDtoH_v2", ARENA + 12, 4, 4, 4, 1, 1, content))
        builder.operation(Launch(0, 0, ONE, ONE, 0, struct.pack("<Q", ARENA)))
        builder.end()
    return path


@sim_only
def test_kernel_that_overwrites_the_bytes_after_the_copy_is_found(
    tmp_path: Path, forgetful_driver: Path
) -> None:
    """The kernel writes the recorded bytes over the copied ones. A sample's own comparison, at its end, is deceived;
    the comparison between copy and kernel is not."""
    capture = tampering_capture(tmp_path / "x.ncap", OVERWRITE, "overwrite")
    sample, checked = replayed(
        capture,
        ["point", 0, ARENA, "pinned", 2, 0],
        ["input", 0, ARENA + 12, integers([6]).hex()],
        ["measured", 0],
        ["reads", 0],
        driver=str(forgetful_driver),
        environment={"CALL_LOG": str(tmp_path / "calls")},
        **STRICT,
    )[-2:]
    assert "device_us" in sample
    assert (
        checked["status"] == OTHER_READ and "were 05000000 when recorded, and are 06000000" in checked["text"]
    )


@sim_only
def test_kernel_keeps_nothing_in_the_memory_of_the_copies(tmp_path: Path, forgetful_driver: Path) -> None:
    """It counts at a byte of that memory after the copy; each sample finds the copied word."""
    results = replayed(
        tampering_capture(tmp_path / "x.ncap", REMEMBER, "remember"),
        ["point", 0, ARENA, "pinned", 2, 0],
        ["samples", 4, ARENA + 8, 4],
        driver=str(forgetful_driver),
        environment={"CALL_LOG": str(tmp_path / "calls")},
        ignore_reads=True,
        **STRICT,
    )
    assert [left for _, left in results[2]] == [integers([5]).hex()] * 4


def test_copy_that_does_not_run_is_found(tmp_path: Path, forgetful_driver: Path) -> None:
    """Bytes of an earlier sample do not stand for new ones."""
    _, refused = replayed(
        read_capture(tmp_path / "x.ncap"),
        ["measure", 1],
        driver=str(forgetful_driver),
        environment={"NO_READS": "1"},
    )
    assert refused["status"] == OTHER_READ and "and are faffffff" in refused["text"]
