"""Errors of sums whose numbers are added one after the other in float32.

numpy and torch add in pairs, so the errors of a reference do not show them (rounding.py). Those of random numbers are
small: 2^-16 of a sum of 2^18 numbers. Those of equal numbers have one direction, and such a sum is off by up to 2^-8.4.
A thread that adds a whole row, and atomic additions to one number, are such sums.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from .formats import Array

SCALES = (1.0, 0.71, 0.83, 0.92, 1.13, 1.31)
"""A kernel adds functions of the numbers, and whether equal ones drift depends on their bits."""

ROWS = 8
LENGTH_MAX = 1 << 20
"""The judge adds the numbers of ROWS rows, each of LENGTH_MAX numbers at most. It takes 0.26 s."""

MULTIPLE = 2.0
"""Other orders and functions drift more. We drew 300 sums of 2^12 to 2^20 numbers, and 195 were off by 2^-17 or more:
5 by more than 1.5 times the error that is found here, and none by 2 times."""

SHARE_MAX = 2.0**-6
"""No sum has more room. A kernel that adds 2^22 equal numbers so is off by 2^-5, and is wrong."""


def drift_of(arrays: Iterable[Array], length: int) -> float:
    """How far a sum of `length` numbers of these arrays may be off, as a share of the sum of their sizes."""
    found = 0.0
    for each in arrays:
        flat = each.reshape(-1)
        size = min(length, LENGTH_MAX, flat.size)
        count = min(ROWS, flat.size // size) if size else 0
        for start in np.linspace(0, flat.size - size, count, dtype=np.intp):
            with np.errstate(over="ignore"):
                found = max(found, _drift(np.abs(flat[start : start + size]).astype(np.float32)))
    return min(SHARE_MAX, MULTIPLE * found)


def _drift(sizes: Array) -> float:
    found = 0.0
    for scale in SCALES:
        numbers = sizes * np.float32(scale)
        with np.errstate(all="ignore"):
            exact = float(numbers.sum(dtype=np.float64))
            off = abs(float(np.add.accumulate(numbers)[-1]) - exact)
        if exact and math.isfinite(off):
            found = max(found, off / exact)
    return found
