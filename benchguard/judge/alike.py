"""Whether two results of one calculation differ by a few roundings.

A kernel that adds with atomics, or in the order in which its blocks finish, has other last bits in each sample. A
problem's own check takes longer than the sample, and its numbers tell nothing new about such outputs: it has accepted
some that are as near as this.

A number may be off by a unit in its last place, or by ROOM of the largest number nearby: the sums before it were as
large. Numbers that are far smaller would then be free, so only FEW may be off by an eighth. Integers have no roundings.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import numpy as np

from ..problem.spec import DType
from ..problem.threads import threads
from .formats import FLOATS, Array, Doubles, decoded, is_float

NEARBY = 1 << 18
"""Numbers in a row whose largest one is the measure. A thread compares as many at once."""

ROOM = 2.0**-16
ROOM_FLOAT64 = 2.0**-45
"""Eight bits less than float32 and float64 hold: the room for honest sums that judge/stored_answers.py gives, too."""

FAR = 1 / 8
FEW = 1 / 1024
"""Sums that cancel are near zero, as some numbers of a cumulative sum are."""


def are_alike(dtype: DType, stored: Array, others: DType, other: Array) -> bool:
    """Whether elements of the float dtype `dtype` differ by roundings from the elements `other` of dtype `others`.

    Both arrays are flat, as stored. An Inf or NaN is alike only to the same.
    """
    if not is_float(dtype) or not is_float(others) or stored.shape != other.shape:
        return False
    far, most, starts = 0, FEW * len(stored), range(0, len(stored), NEARBY)

    def look(start: int) -> int | None:
        if far > most:
            return None
        part = slice(start, start + NEARBY)
        return _far_off(dtype, decoded(dtype, stored[part]), decoded(others, other[part]))

    with ThreadPoolExecutor(threads()) if len(starts) > 1 else nullcontext() as pool:
        counts: Iterator[int | None] = map(look, starts) if pool is None else pool.map(look, starts)
        for count in counts:
            far += len(stored) + 1 if count is None else count
    return far <= most


def _far_off(dtype: DType, numbers: Doubles, targets: Doubles) -> int | None:
    """The numbers that are off by an eighth; None if one is off by more than roundings."""
    with np.errstate(all="ignore"):
        sizes = np.abs(targets)
        room = float(sizes.max(initial=0.0, where=np.isfinite(targets)))
        room *= ROOM_FLOAT64 if dtype == "float64" else ROOM
        errors = np.abs(numbers - targets)
        if not errors.max(initial=0.0) <= room:  # also for a NaN
            unit = 2.0 ** (1 - FLOATS[dtype].digits)
            near = (errors <= np.maximum(sizes * unit, room)) & np.isfinite(targets)
            same = (numbers == targets) | (np.isnan(numbers) & np.isnan(targets))
            if not (near | same).all():
                return None
        return int(np.count_nonzero(errors > FAR * sizes))
