"""The power state of a replay: the clock of the multiprocessors, and the share of time that the device was busy.

A device that was idle before a replay, or hot from it, runs the next one at another clock. The order A B B A cancels a
steady drift, and each replay warms up until its times are steady. The remaining difference shows in the clocks of both
sides.
Pure functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..replay.result import SampleRow
from ..replay.statistics import quantile
from .comparison import Block, Comparison, compare_blocks

CLOCK_WITHIN = 0.005
"""Clocks that differ by less have no effect that a comparison shows (SAME_WITHIN)."""


@dataclass(frozen=True)
class Power:
    """`clock_mhz` is the median clock of the samples, 0 if unknown. `busy` is the share of the sampling's time that the
    timed work took."""

    clock_mhz: float
    busy: float


def power_of(table: Sequence[SampleRow]) -> Power:
    clocks = sorted(row.clock_mhz for row in table if row.clock_mhz > 0)
    seconds = (table[-1].ended_ns - table[0].ended_ns) / 1e9 if len(table) > 1 else 0.0
    timed = sum(row.device_us for row in table[1:]) / 1e6
    return Power(quantile(clocks, 0.5) if clocks else 0.0, timed / seconds if seconds > 0 else 0.0)


def clock_doubt(blocks: Sequence[Block], clocks: Sequence[Block], compared: Comparison) -> str:
    """Why the clocks of the two sides make the call unsure; empty if they do not.

    The time of a kernel may follow the clock, or not, as where it waits for memory. So a call stands if it is the same
    for the times and for the numbers of cycles.
    """
    if any(clock <= 0 for each in clocks for clock in (each.a1, each.b1, each.b2, each.a2)):
        return ""
    rates = compare_blocks(clocks)
    differ = not rates.low <= 1 <= rates.high and abs(rates.ratio - 1) > max(CLOCK_WITHIN, rates.floor)
    cycles = [
        Block(time.a1 * mhz.a1, time.b1 * mhz.b1, time.b2 * mhz.b2, time.a2 * mhz.a2)
        for time, mhz in zip(blocks, clocks, strict=True)
    ]
    if not differ or compare_blocks(cycles).call == compared.call:
        return ""
    middle = [quantile(sorted(pair), 0.5) for pair in _sides(clocks)]
    return (
        f"the clocks of the two sides differ: {middle[0]:.0f} MHz for A, {middle[1]:.0f} MHz for B; B is "
        f"{compared.call} by time, {compare_blocks(cycles).call} by clock cycles. Compare again on a cool, quiet "
        "device, or with fixed clocks"
    )


def _sides(blocks: Sequence[Block]) -> tuple[list[float], list[float]]:
    return (
        [value for each in blocks for value in (each.a1, each.a2)],
        [value for each in blocks for value in (each.b1, each.b2)],
    )
