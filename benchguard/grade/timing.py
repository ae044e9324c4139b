"""Which samples a grade's time is made of, and whether that time is the time of work. Pure functions.

A kernel that has found somewhere to keep its answers is fast on inputs that it has seen, and only there: its samples on
inputs used once take as long as the work does. It may hide among them by being slow now and then on what it knows, but
it cannot be fast on what it does not know. So the least of the one-use samples bounds what it may claim.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..judge.carried import EFFECT_MIN, REPEATED_MIN, FirstUse, first_use
from ..replay.result import SampleRow
from ..replay.statistics import quantile

LEAST_MIN = 8
"""One-use samples that must all be slower than the median: by chance they are in 1 of 2^8 runs, 12 in 1 of 2^12, and by
more than EFFECT_MIN only where the times spread that far."""


def reported(table: Sequence[SampleRow]) -> list[SampleRow]:
    """The samples that the time is of: all, if there are enough to hold them against each other, else those on
    inputs used once, if there are any."""
    once = [row for row in table if row.fresh]
    if once and len(table) - len(once) < REPEATED_MIN:
        return once
    return list(table)


def first_use_of(table: Sequence[SampleRow]) -> FirstUse | None:
    """None where no set was kept for one use."""
    rows = [row for row in table if not row.unprimed and row.input_set is not None]
    if not any(row.fresh for row in rows):
        return None
    return first_use([(row.device_us, row.fresh) for row in rows], [row.input_set or 0 for row in rows])


def least_reason(table: Sequence[SampleRow]) -> str:
    """Why the median is not the time of work: no input that was used once was done in so little. Empty if one was."""
    once = sorted(row.device_us for row in table if row.fresh and not row.unprimed)
    if len(once) < LEAST_MIN or len(once) == len(table):
        return ""
    median = quantile(sorted(row.device_us for row in table), 0.5)
    if once[0] <= median * (1 + EFFECT_MIN):
        return ""
    return (
        f"the median is {median:.4g} us, but of {len(once)} samples on inputs used once none took less than "
        f"{once[0]:.4g} us: something is carried from one sample to the next"
    )
