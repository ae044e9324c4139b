"""The captures that other tests begin with are valid, and hold what they say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchguard.capture import Capture
from benchguard.capture.layout import ARENA
from tests.support import captures


@pytest.mark.parametrize("build", captures.CAPTURES.values(), ids=captures.CAPTURES)
def test_every_test_capture_opens(build: Callable[[Path], Path], tmp_path: Path) -> None:
    with Capture.open(build(tmp_path / "x.ncap")) as capture:
        assert capture.end.operations == len(capture.operations)
        assert capture.check_blobs() == capture.blobs.count


@pytest.mark.parametrize("n", [1, 1024, 300_000])
def test_saxpy_capture_has_its_memory(n: int, tmp_path: Path) -> None:
    """The memory of 300,000 elements is more than one blob."""
    x, y, after = map(captures.floats, captures.saxpy_values(n))
    with Capture.open(captures.saxpy_capture(tmp_path / "x.ncap", n)) as capture:
        named = {each.name: each for each in capture.ranges}
        assert capture.memory(named["x"].address, 4 * n) == x
        assert capture.memory(named["y"].address, 4 * n) == y
        assert capture.memory(named["x"].address, 4 * n, after=True) == x
        assert capture.memory(named["y"].address, 4 * n, after=True) == after
        assert capture.image(0) == captures.SAXPY.encode() + b"\0"


def test_copies_capture_has_its_operations(tmp_path: Path) -> None:
    with Capture.open(captures.copies_capture(tmp_path / "x.ncap")) as capture:
        address = [each.address for each in capture.allocations]
        assert capture.memory(address[0], 4096) == bytes(4096)
        assert capture.memory(address[0], 4096, after=True) == b"\1" * 4096
        assert capture.memory(address[1], 4096, after=True) == capture.memory(address[2], 4096, after=True)
        assert capture.memory(address[3] + 10, 8) == b"\xee" * 8
        assert capture.memory(address[3] + 10, 8, after=True) == bytes(8)


def test_memory_of_a_global_is_readable(tmp_path: Path) -> None:
    with Capture.open(captures.global_capture(tmp_path / "x.ncap")) as capture:
        assert capture.memory(captures.COUNTER, 4) == b"\x28\0\0\0"
        assert capture.memory(captures.COUNTER + 1, 2, after=True) == b"\0\0"
        assert capture.memory(ARENA, 4, after=True) == b"\x69\0\0\0"
