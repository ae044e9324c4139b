"""A buffer that the region updates in place but that is named as an output: detected, and no other buffer is."""

from __future__ import annotations

from pathlib import Path

import pytest

import benchguard
from benchguard.capture.layout import Kind, Role
from benchguard.capture.model import Range
from benchguard.replay.protocol import CANNOT, Failed, OutputPart
from tests.support.altered import Altered
from tests.support.captures import (
    ARENA,
    GRANULE,
    Builder,
    Memory,
    copy,
    floats,
    saxpy_capture,
    saxpy_launch,
    saxpy_values,
)
from tests.unit.replay.fake_engine import FakeEngine, events_of, request

N = 1024
X, Y, Z = ARENA, ARENA + GRANULE, ARENA + 2 * GRANULE


def replay(path: Path, **options: object) -> benchguard.ReplayResult:
    return benchguard.replay(path, driver="sim", cold="none", samples=5, **options)


def saxpy_naming(role: Role, path: Path) -> Path:
    """y = 2 x + y, with y under this role."""
    altered = Altered(saxpy_capture(path))
    altered.set(Kind.RANGE, 1, "role", role)
    return altered.write(path)


def copying(path: Path, size: int, in_place: bool, *ranges: Range) -> Path:
    """If asked y = 2 x + y; then z = y, its first `size` bytes."""
    x, y, after = map(floats, saxpy_values(N))
    final = after if in_place else y
    with Builder(path) as builder:
        builder.device()
        builder.saxpy()
        builder.stream()
        builder.memory(Memory(X, x, x))
        builder.memory(Memory(Y, y, final))
        builder.memory(Memory(Z, bytes(4 * N), final[:size] + bytes(4 * N - size)))
        if in_place:
            builder.operation(saxpy_launch(X, Y, N))
        builder.operation(copy(0, Z, Y, size))
        for each in ranges:
            builder.add(each)
        builder.end()
    return path


def output(address: int, name: str) -> Range:
    return Range(address, 4 * N, Role.OUTPUT, name)


@pytest.mark.parametrize("cold", ["none", "flush", "rotate"])
def test_output_updated_in_place_is_unreplayable(native: Path, tmp_path: Path, cold: str) -> None:
    assert native
    path = saxpy_naming(Role.OUTPUT, tmp_path / "x.ncap")
    result = benchguard.replay(path, driver="sim", cold=cold, samples=5)
    assert result.verdict == "unreplayable" and result.time_us is None
    assert "updates output 'y' in place" in result.reason and "`state=`" in result.reason


def test_state_updated_in_place_passes(native: Path, tmp_path: Path) -> None:
    assert native
    assert replay(saxpy_naming(Role.STATE, tmp_path / "x.ncap")).verdict == "pass"


def test_output_updated_in_place_from_a_given_input_passes(native: Path, tmp_path: Path) -> None:
    """Each sample begins with the caller's bytes in y."""
    assert native
    path = saxpy_naming(Role.OUTPUT, tmp_path / "x.ncap")
    result = replay(path, inputs={"y": floats([1.0] * N)})
    x, _, _ = saxpy_values(N)
    assert result.verdict == "pass" and result.outputs["y"] == floats([2 * each + 1 for each in x])


@pytest.mark.parametrize("size", [4 * N, 2 * N, 0])
def test_output_written_in_part_passes(native: Path, tmp_path: Path, size: int) -> None:
    assert native
    path = copying(tmp_path / "x.ncap", size, False, output(Z, "z"))
    assert replay(path).verdict == "pass"


def test_output_computed_from_an_in_place_output_is_not_blamed(native: Path, tmp_path: Path) -> None:
    assert native
    path = copying(tmp_path / "x.ncap", 4 * N, True, output(Z, "z"), output(Y, "y"))
    assert "updates output 'y' in place" in replay(path).reason


def test_region_with_another_outcome_than_recorded_passes(native: Path, tmp_path: Path) -> None:
    """Another machine rounds differently: its outcome differs from the recorded one, whatever z held before."""
    assert native
    altered = Altered(copying(tmp_path / "x.ncap", 4 * N, False, output(Z, "z")))
    altered.replace_table(Kind.AFTER, b"")
    assert replay(altered.write(tmp_path / "y.ncap")).verdict == "pass"


def test_loop_without_written_outputs_does_not_look() -> None:
    engine = FakeEngine(in_place=0)
    events_of(engine, request(outputs=(OutputPart(0, 8, 0, False, "y"),)), outputs=bytearray(8))
    assert "find_in_place" not in engine.calls


def test_loop_names_the_output_that_the_engine_found() -> None:
    parts = (
        OutputPart(0, 8, 0, False, "x"),
        OutputPart(8, 8, 8, True, "y"),
        OutputPart(16, 8, 16, True, "z"),
    )
    events = events_of(FakeEngine(in_place=1), request(outputs=parts), outputs=bytearray(24))
    last = events[-1]
    assert isinstance(last, Failed) and last.status == CANNOT and "'z'" in last.text
