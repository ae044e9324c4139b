"""Results of one calculation that differ by a few roundings.

A kernel that adds with atomics, or in the order in which its blocks finish, has other last bits in each sample. A
problem's own check takes longer than the sample, and its numbers tell nothing new about such outputs: it has accepted
some that are as near as this.

A number may be off by a unit in its last place, or by ROOM of the largest number nearby: the sums before it were as
large. Numbers that are far smaller would then be free, so only FEW may be off by FAR of themselves, and callers learn
which ones. Integers have no roundings.
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

FAR = 1 / 128
FEW = 1 / 1024
"""Sums that cancel are near zero, as some numbers of a cumulative sum are."""


def far_among_alike(dtype: DType, stored: Array, others: DType, other: Array) -> Array | None:
    """The places of the numbers that are off by FAR of themselves, where elements of the float dtype `dtype` differ by
    roundings from the elements `other` of dtype `others`; None where they differ by more.

    Both arrays are flat, as stored. An Inf or NaN is alike only to the same.
    """
    if not is_float(dtype) or not is_float(others) or stored.shape != other.shape:
        return None
    starts, most, count = range(0, len(stored), NEARBY), FEW * len(stored), 0

    def look(start: int) -> Array | None:
        if count > most:
            return None
        part = slice(start, start + NEARBY)
        far = _far_off(dtype, decoded(dtype, stored[part]), decoded(others, other[part]))
        return None if far is None else start + far

    found = [np.empty(0, np.intp)]
    with ThreadPoolExecutor(threads()) if len(starts) > 1 else nullcontext() as pool:
        places: Iterator[Array | None] = map(look, starts) if pool is None else pool.map(look, starts)
        for each in places:
            if each is None:
                count = len(stored) + 1
            else:
                count += len(each)
                found.append(each)
    return np.concatenate(found) if count <= most else None


def _far_off(dtype: DType, numbers: Doubles, targets: Doubles) -> Array | None:
    """The numbers that are off by FAR of themselves; None if one is off by more than roundings."""
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
        return np.flatnonzero(errors > FAR * sizes)
