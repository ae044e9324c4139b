"""Decide whether an output is right, element by element. Pure functions; no other code decides this.

An element is right if, in float64,

    |actual - expected| <= absolute + relative * |expected|

These rules come first, in this order:

    expected NaN          only NaN is right, with any payload
    expected +Inf, -Inf   only the same Inf is right
    actual NaN or Inf     wrong if the expected value is finite in the output's dtype
    expected overflows    (when rounded to the output's dtype) right are Inf of the same sign, the largest number of
                          that sign, which saturating conversions give, and values that the formula allows.
                          float8_e4m3 has no Inf: NaN takes its place, and an expected Inf counts as an overflow
    correctly rounded     the expected value rounded to nearest in the output's dtype is right for any tolerance,
                          because no output can be nearer
    zeros                 -0.0 and 0.0 are equal
    integers              equal, if the tolerance is 0 (the default); otherwise by the formula, with the difference
                          computed in integers
    bool                  bytes 0 and 1, equal; other bytes are wrong; tolerances do not apply

A bound that overflows is the largest float64. A difference that overflows is wrong. Only elements are compared: the
gaps of an output with strides may hold any bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..problem.spec import DType, Tolerance
from .formats import FLOATS, Array, Doubles, FloatFormat, decode, decoded, is_float, rounded

CHUNK = 1 << 18
"""Elements per chunk, so that intermediate results stay near a core. With fewer, threads wait for each other's Python:
2^27 elements take 0.25 s with 2^16, 0.14 s with 2^18, 0.24 s with 2^19 (2 processors)."""

PART_MIN = 1 << 20
"""Below this many elements, another thread costs more than it saves."""

LARGEST = FLOATS["float64"].largest
LESS = 1 - 2.0**-51
"""A difference of at most x * LESS * size is a relative error of at most x, whatever both are rounded to."""

Number: TypeAlias = float | int
Mask = NDArray[np.bool_]
Places = NDArray[np.intp]


@dataclass(frozen=True)
class Comparison:
    """`first` is the first wrong element: its index in row-major order, expected value, actual value.

    The errors are the largest among pairs of finite numbers. The relative error ignores elements whose |expected| is
    below the absolute tolerance or subnormal.
    """

    elements: int
    wrong: int = 0
    first: tuple[int, Number, Number] | None = None
    max_absolute: float = 0.0
    max_relative: float = 0.0

    def __add__(self, later: Comparison) -> Comparison:
        """Combine the results of two parts of an output. `self` is the earlier part."""
        first = self.first
        if first is None and later.first is not None:
            index, *values = later.first
            first = (self.elements + index, values[0], values[1])
        return Comparison(
            self.elements + later.elements,
            self.wrong + later.wrong,
            first,
            max(self.max_absolute, later.max_absolute),
            max(self.max_relative, later.max_relative),
        )


def compare(
    actual: Array,
    expected: Array,
    dtype: DType,
    tolerance: Tolerance,
    *,
    pool: Executor | None = None,
    threads: int = 1,
    counts: bool = True,
) -> Comparison:
    """Compare one output. Both arrays are flat and row-major.

    `actual` is as stored (formats.stored_dtype). `expected` is float64 or float32 for a float dtype, otherwise as
    stored. `pool` runs up to `threads` parts at once. Without `counts`, not all wrong floats are counted, but at least
    one if there are any: to count them takes most of the time where they are many.
    """
    assert actual.shape == expected.shape and actual.ndim == 1
    work: Callable[[Array, Array], Comparison]
    if is_float(dtype):
        work = partial(_floats, dtype=dtype, tolerance=tolerance, counts=counts)
    else:
        work = partial(_integers, tolerance=Tolerance(0.0, 0.0) if dtype == "bool" else tolerance)
    count = min(threads, -(-len(actual) // PART_MIN)) if pool is not None else 1
    if pool is None or count <= 1:
        return work(actual, expected)
    size = -(-len(actual) // count)
    parts = [slice(at, at + size) for at in range(0, len(actual), size)]
    return sum(pool.map(lambda part: work(actual[part], expected[part]), parts), Comparison(0))


def _floats(
    actual: Array, expected: Array, *, dtype: DType, tolerance: Tolerance, counts: bool
) -> Comparison:
    """Compare chunk by chunk. An element within its bound is right by all rules, because bounds are finite and so
    exclude Inf and NaN. Chunks with other elements are checked again by all rules."""
    size = min(CHUNK, max(1, len(actual)))
    numbers, scratch, mask = np.empty(size), np.empty(size), np.empty(size, np.bool_)
    total = Comparison(0)
    with np.errstate(all="ignore"):
        for start in range(0, len(actual), size):
            stored, chunk = actual[start : start + size], expected[start : start + size]
            n = len(stored)
            differences, b, m = numbers[:n], scratch[:n], mask[:n]
            decode(dtype, stored, differences)
            np.subtract(differences, chunk, out=differences)
            np.abs(differences, out=differences)
            absolute = float(differences.max())
            relative: float | None = 0.0
            if not counts and total.wrong and absolute <= LARGEST:
                relative = _errors(differences, np.abs(chunk, dtype=np.float64), b, m, dtype, tolerance)[1]
            elif absolute != 0.0:
                known = total.max_relative
                relative = _relative_error(differences, absolute, chunk, known, dtype, tolerance, b, m)
            if relative is None:
                total += _again(stored, chunk, differences, m, dtype, tolerance)
            else:
                total += Comparison(n, 0, None, absolute, relative)
    return total


def _relative_error(
    differences: Doubles,
    absolute: float,
    expected: Array,
    known: float,
    dtype: DType,
    tolerance: Tolerance,
    scratch: Doubles,
    mask: Mask,
) -> float | None:
    """The largest relative error of a chunk, or less if it is at most `known`. None if an element exceeds its bound;
    `mask` then has the elements that do not.

    `absolute` is the largest difference. Divides only the elements that may exceed `known`, the largest relative error
    of earlier chunks. Most elements are compared once: a difference within `known` times the expected size is also
    within the relative tolerance, if that is larger. float64 is divided as a whole, because `known` times a small
    number may underflow there. Overwrites `scratch`.
    """
    is_within = absolute <= tolerance.atol
    if not absolute <= LARGEST or (not is_within and (known > tolerance.rtol or dtype == "float64")):
        _find_within(differences, expected, tolerance, scratch, mask)
        if not mask.all():
            return None
        is_within = True
    np.abs(expected, out=scratch)
    if dtype == "float64":
        return _errors(differences, scratch.copy(), scratch, mask, dtype, tolerance)[1]
    np.multiply(scratch, known * LESS, out=scratch)
    np.greater(differences, scratch, out=mask)
    if not mask.any():
        return 0.0
    at = np.flatnonzero(mask)
    apart, sizes = differences[at], np.abs(expected[at].astype(np.float64))
    if not is_within and not (apart <= sizes * tolerance.rtol + tolerance.atol).all():
        _find_within(differences, expected, tolerance, scratch, mask)
        return None
    large = sizes > max(tolerance.atol, FLOATS[dtype].smallest_normal)
    return float((apart[large] / sizes[large]).max(initial=0.0))


def _find_within(
    differences: Doubles, expected: Array, tolerance: Tolerance, scratch: Doubles, mask: Mask
) -> None:
    """Set `mask` for elements within their bounds. Overwrites `scratch`."""
    np.abs(expected, out=scratch)
    np.multiply(scratch, tolerance.rtol, out=scratch)
    np.add(scratch, tolerance.atol, out=scratch)
    np.minimum(scratch, LARGEST, out=scratch)
    np.less_equal(differences, scratch, out=mask)


def _errors(
    differences: Doubles, sizes: Doubles, scratch: Doubles, mask: Mask, dtype: DType, tolerance: Tolerance
) -> tuple[float, float]:
    """The largest absolute and relative error. Overwrites `scratch` and `mask`."""
    absolute = float(differences.max())
    if absolute == 0.0:
        return 0.0, 0.0
    np.divide(differences, sizes, out=scratch)
    np.less_equal(sizes, max(tolerance.atol, FLOATS[dtype].smallest_normal), out=mask)
    np.copyto(scratch, 0.0, where=mask)
    return absolute, float(scratch.max())


def _again(
    stored: Array,
    expected: Array,
    differences: Doubles,
    within: Mask,
    dtype: DType,
    tolerance: Tolerance,
) -> Comparison:
    """Check a chunk that has elements outside their bounds. Overwrites `differences` and `within`."""
    wrong = _wrong(stored, expected, np.flatnonzero(~within), dtype, tolerance)
    first = None
    if len(wrong):
        target, number = expected[wrong[0]], decoded(dtype, stored[wrong[:1]])[0]
        first = (int(wrong[0]), float(target), float(number))
    sizes = np.abs(expected.astype(np.float64))
    if not np.isfinite(differences.max()):
        differences[~np.isfinite(differences)] = 0.0
        sizes[~np.isfinite(sizes)] = 0.0
    errors = _errors(differences, sizes, np.empty_like(sizes), within, dtype, tolerance)
    return Comparison(len(stored), len(wrong), first, *errors)


def _wrong(stored: Array, expected: Array, at: Places, dtype: DType, tolerance: Tolerance) -> Places:
    """The elements that are wrong by all rules, among those at `at`, which the formula rejects.

    Where the tolerance is wider than the rounding of a normal number, only expected numbers that are not normal, or
    beyond the format's range, can be right by another rule.
    """
    form = FLOATS[dtype]
    is_wrong = np.ones(len(at), np.bool_)
    targets = expected[at].astype(np.float64)
    doubtful = np.arange(len(at))
    if tolerance.rtol >= 2.0 ** (1 - form.digits):
        sizes = np.abs(targets)
        doubtful = np.flatnonzero(~((sizes >= form.smallest_normal) & (sizes < form.largest)))
    if len(doubtful):
        numbers = decoded(dtype, stored[at[doubtful]])
        is_wrong[doubtful] = ~_right_beyond_bounds(numbers, targets[doubtful], form)
    return at[is_wrong]


def _right_beyond_bounds(numbers: Doubles, targets: Doubles, form: FloatFormat) -> Mask:
    """Which elements are right by the other rules, among those that the formula rejects."""
    nearest = rounded(targets, form)
    over = np.abs(nearest) > form.largest
    right = numbers == nearest  # true for an expected Inf, too
    right |= np.isnan(targets) & np.isnan(numbers)
    right |= over & np.isfinite(targets) & (numbers == np.copysign(np.inf, targets))
    saturates = over & (np.isfinite(targets) | (not form.infinities))
    right |= saturates & (numbers == np.copysign(form.largest, targets))
    if not form.infinities:
        right |= over & np.isnan(numbers)
    return np.asarray(right, np.bool_)


def _integers(actual: Array, expected: Array, *, tolerance: Tolerance) -> Comparison:
    total = Comparison(0)
    exact = tolerance.atol == 0 and tolerance.rtol == 0
    unsigned = np.dtype(f"u{actual.dtype.itemsize}")
    for start in range(0, len(actual), CHUNK):
        a, e = actual[start : start + CHUNK], expected[start : start + CHUNK]
        bad = a != e
        if not bad.any():
            total += Comparison(len(a))
            continue
        # The difference of two n-bit numbers fits in n unsigned bits, and wrap-around keeps it exact.
        apart = np.maximum(a, e).view(unsigned) - np.minimum(a, e).view(unsigned)
        differences, sizes = apart.astype(np.float64), np.abs(e.astype(np.float64))
        if not exact:
            bad = ~(differences <= np.minimum(tolerance.atol + tolerance.rtol * sizes, LARGEST))
        wrong = np.flatnonzero(bad)
        first = (int(wrong[0]), int(e[wrong[0]]), int(a[wrong[0]])) if len(wrong) else None
        large = sizes > tolerance.atol
        relative = float((differences[large] / sizes[large]).max()) if large.any() else 0.0
        total += Comparison(len(a), len(wrong), first, float(differences.max()), relative)
    return total


def check_tolerance(tolerance: Tolerance) -> str:
    """Why the tolerance is invalid; empty if it is valid."""
    for name, value in (("atol", tolerance.atol), ("rtol", tolerance.rtol)):
        if not (math.isfinite(value) and value >= 0):
            return f"its {name} tolerance is {value}; give a finite number of at least 0"
    return ""
