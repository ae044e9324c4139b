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
    """The samples that the time is of: all, or those on inputs used once, if there are too few others to hold against
    them, or if they are slower: to gain by what it keeps, a kernel would have to be fast on more than half of what it
    has never seen, which is no cheat."""
    once = [row for row in table if row.one_use]
    few = len(table) - len(once) < REPEATED_MIN
    if once and (few or (len(once) >= LEAST_MIN and _median(once) > (1 + EFFECT_MIN) * _median(table))):
        return once
    return list(table)


def _median(rows: Sequence[SampleRow]) -> float:
    return quantile(sorted(row.device_us for row in rows), 0.5)


def first_use_of(table: Sequence[SampleRow]) -> FirstUse | None:
    """None where no set was kept for one use."""
    rows = [row for row in table if not row.unprimed and row.input_set is not None]
    if not any(row.one_use for row in rows):
        return None
    return first_use([(row.device_us, row.one_use) for row in rows], [row.input_set or 0 for row in rows])


def least_reason(table: Sequence[SampleRow]) -> str:
    """Why the median is not the time of work: no input that was used once was done in so little. Empty if one was."""
    once = sorted(row.device_us for row in table if row.one_use and not row.unprimed)
    if len(once) < LEAST_MIN or len(once) == len(table):
        return ""
    median = _median(table)
    if once[0] <= median * (1 + EFFECT_MIN):
        return ""
    return (
        f"the median is {median:.4g} us, but of {len(once)} samples on inputs used once none took less than "
        f"{once[0]:.4g} us: something is carried from one sample to the next"
    )
