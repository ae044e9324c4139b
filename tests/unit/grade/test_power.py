"""Clocks of the two sides of a comparison, by simulated replays of known clocks."""

from __future__ import annotations

import random

import pytest

from benchguard.grade.comparison import Block, compare_blocks
from benchguard.grade.power import Power, clock_doubt, power_of
from benchguard.replay.result import SampleRow

COOL, HOT = 1755.0, 1980.0


def row(ended_ns: int, device_us: float, clock_mhz: float) -> SampleRow:
    return SampleRow(ended_ns, device_us, device_us, 1.0, clock_mhz, None, False, ())


def replays(
    cycles: float, a_mhz: float, b_mhz: float, *, follows_clock: bool = True, seed: int = 1
) -> tuple[list[Block], list[Block]]:
    """Times and clocks of 6 blocks. B needs `cycles` times the clock cycles of A, or times the time of A."""
    draw = random.Random(seed)
    times, clocks = [], []
    for _ in range(6):
        mhz = [each * draw.lognormvariate(0, 0.001) for each in (a_mhz, b_mhz, b_mhz, a_mhz)]
        work = [each * draw.lognormvariate(0, 0.001) for each in (1.0, cycles, cycles, 1.0)]
        clocks.append(Block(*mhz))
        by = mhz if follows_clock else [HOT] * 4
        times.append(Block(*(200_000 * each / rate for each, rate in zip(work, by, strict=True))))
    return times, clocks


def doubt(times: list[Block], clocks: list[Block]) -> str:
    return clock_doubt(times, clocks, compare_blocks(times))


def test_same_kernel_that_ran_hot_on_one_side_is_unsure() -> None:
    times, clocks = replays(1.0, COOL, HOT)
    assert compare_blocks(times).call == "FASTER"
    text = doubt(times, clocks)
    assert "1755 MHz for A, 1980 MHz for B" in text and "FASTER by time, SAME by clock cycles" in text


def test_slower_kernel_that_ran_hot_is_not_called_the_same() -> None:
    times, clocks = replays(HOT / COOL, COOL, HOT)
    assert compare_blocks(times).call == "SAME"
    assert "SAME by time, SLOWER by clock cycles" in doubt(times, clocks)


def test_kernel_that_waits_for_memory_is_unsure_at_other_clocks() -> None:
    """Its time does not follow the clock, but nothing shows that."""
    times, clocks = replays(1.0, COOL, HOT, follows_clock=False)
    assert compare_blocks(times).call == "SAME" and doubt(times, clocks)


@pytest.mark.parametrize("cycles", [0.9, 1.0, 1.1])
def test_equal_clocks_leave_the_call(cycles: float) -> None:
    for seed in range(50):
        assert doubt(*replays(cycles, HOT, HOT, seed=seed)) == ""


def test_difference_beyond_that_of_the_clocks_leaves_the_call() -> None:
    """A kernel twice as fast that draws more power, so that its clock is lower or higher."""
    for a_mhz, b_mhz in ((HOT, COOL), (COOL, HOT)):
        times, clocks = replays(0.5, a_mhz, b_mhz)
        assert compare_blocks(times).call == "FASTER" and doubt(times, clocks) == ""


def test_clocks_that_vary_on_both_sides_leave_the_call() -> None:
    draw = random.Random(3)
    times, _ = replays(1.0, HOT, HOT)
    clocks = [Block(*(draw.choice((COOL, HOT)) for _ in range(4))) for _ in range(6)]
    assert doubt(times, clocks) == ""


def test_unknown_clocks_leave_the_call() -> None:
    times, clocks = replays(0.9, COOL, HOT)
    assert doubt(times, [Block(0.0, 0.0, 0.0, 0.0) for _ in clocks]) == ""


def test_power_is_the_median_clock_and_the_busy_share() -> None:
    table = [row(n * 1_000_000, 250.0, mhz) for n, mhz in enumerate((0.0, COOL, HOT, HOT, 0.0))]
    assert power_of(table) == Power(HOT, pytest.approx(0.25))
    assert power_of(table[:1]) == Power(0.0, 0.0)
