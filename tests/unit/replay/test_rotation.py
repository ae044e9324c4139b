"""The number and order of rotating copies: as requested (Composable Kernel's rules), or by the cache size."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import pytest

from benchguard.capture.layout import ARENA
from benchguard.toolchain.paths import ENGINES
from tests.support.captures import CAPTURES
from tests.unit.replay.engine_captures import add_one_capture, integers
from tests.unit.replay.engine_support import CANNOT, OURS, assert_exact, replayed

MIB, GIB = 1 << 20, 1 << 30


@pytest.fixture(scope="module")
def rules(compile_c: Callable[..., Path]) -> ctypes.CDLL:
    source = Path(__file__).parent / "programs" / "rotation.c"
    library = ctypes.CDLL(str(compile_c("rotation.so", source, flags=(f"-I{ENGINES}",))))
    library.by_cache.argtypes = [ctypes.c_uint64] * 3
    library.as_asked.argtypes = [ctypes.c_uint32, ctypes.c_uint64]
    library.turn.argtypes = [ctypes.c_uint64, ctypes.c_uint32]
    return library


@pytest.mark.parametrize(
    ("footprint", "l2", "free", "count"),
    [
        (2 * MIB, 50 * MIB, 80 * GIB, 126),  # 250 MiB of others lie between two uses of one
        (100 * MIB, 50 * MIB, 80 * GIB, 4),
        (99 * MIB, 50 * MIB, 80 * GIB, 4),  # rounded up
        (GIB, 50 * MIB, 80 * GIB, 2),
        (2 * MIB, 50 * MIB, 40 * MIB, 10),  # half of what is free
        (GIB, 50 * MIB, GIB, 2),  # one copy in any case: whether there is room is asked later
        (2 * MIB, 0, GIB, 2),
    ],
)
def test_default_count_follows_the_cache_size(
    rules: ctypes.CDLL, footprint: int, l2: int, free: int, count: int
) -> None:
    assert rules.by_cache(footprint, l2, free) == count


@pytest.mark.parametrize(
    ("asked", "footprint", "count"),
    [
        (1, 2 * MIB, 1),
        (3, 2 * MIB, 3),
        (1000, 2 * MIB, 1000),
        (1025, 2 * MIB, 1024),  # 2 GiB
        (1000, 3 * MIB, 682),
        (2, GIB, 2),
        (3, GIB, 2),
        (3, GIB + 1, 1),
        (3, 2 * GIB, 1),
        (3, 2 * GIB + 1, 1),  # Composable Kernel's own rule gives 0 here, and divides by it
        ((1 << 32) - 1, 1, 1 << 31),
    ],
)
def test_requested_count_is_bounded_by_memory(
    rules: ctypes.CDLL, asked: int, footprint: int, count: int
) -> None:
    assert rules.as_asked(asked, footprint) % (1 << 32) == count


def test_rotation_begins_with_the_original(rules: ctypes.CDLL) -> None:
    """The hundredth iteration of three copies has copy 0, whatever the document of Composable Kernel says."""
    assert [rules.turn(n, 3) for n in range(7)] == [0, 1, 2, 0, 1, 2, 0]
    assert rules.turn(99, 3) == 0
    assert [rules.turn(n, 1) for n in range(3)] == [0, 0, 0]
    assert rules.turn((1 << 32) + 2, 5) == ((1 << 32) + 2) % 5


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_requested_number_of_sets_is_prepared(tmp_path: Path, count: int) -> None:
    path = add_one_capture(tmp_path / "x.ncap", n=256)
    prepared, samples = replayed(path, ["samples", 7, ARENA, 1024], cold="rotate", rotating_count=count)
    assert prepared[1]["copies"] == count
    assert {left for _, left in samples} == {integers([n + 1 for n in range(256)]).hex()}


@pytest.mark.parametrize("name", ["saxpy", "global", "graph"])
def test_original_state_is_mapped_after_rotation(tmp_path: Path, name: str) -> None:
    """After a number of samples that no count divides, what the region leaves is what was recorded."""
    path = CAPTURES[name](tmp_path / "x.ncap")
    _, before, _, after, _, again = replayed(
        path,
        ["verify"],
        ["measure", 7],
        ["verify"],
        ["measure", 1],
        ["verify"],
        cold="rotate",
        rotating_count=3,
    )
    for verified in (before, after, again):
        assert_exact(verified)


def test_untimed_run_uses_the_original_state(tmp_path: Path) -> None:
    path = add_one_capture(tmp_path / "x.ncap", n=4)
    inputs = ["input", 0, ARENA, integers([9, 9, 9, 9]).hex()]
    *_, left = replayed(
        path, inputs, ["measure", 2], ["once", 0], ["read", ARENA, 16], cold="rotate", rotating_count=3
    )
    assert left == integers([10] * 4).hex()


def test_count_above_the_limit_is_reported(tmp_path: Path) -> None:
    """2 MiB of state: 1024 copies are 2 GiB; the CPU driver has less than that, so it is refused all the same."""
    path = add_one_capture(tmp_path / "x.ncap", n=4)
    prepared, notes = replayed(path, ["notes"], cold="rotate", rotating_count=5000)
    note = (
        "the rotating count is 1024 instead of 5000: all copies together take at most 2 GiB, as Composable "
        "Kernel's do"
    )
    if isinstance(prepared, dict):
        assert prepared["status"] == CANNOT
    else:
        assert (prepared[1]["copies"], notes) == (1024, [note])


def test_rotating_count_without_rotation_is_refused(tmp_path: Path) -> None:
    (refused,) = replayed(add_one_capture(tmp_path / "x.ncap", n=4), cold="flush", rotating_count=3)
    assert refused == {"status": OURS, "text": "a rotating count without NB_COLD_ROTATE"}
