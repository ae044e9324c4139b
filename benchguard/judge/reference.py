"""Expected outputs, which exist only in the judge's memory.

Floats are kept in float64. If memory is short, they are kept in float32, provided that rounding changes no value by
more than 2**-SPILL_BITS of its tolerance; otherwise there are fewer sets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from ..problem.arrays import on_gpu, to_numpy
from ..problem.spec import Buffer, CaseSpec, Tolerance
from ..problem.suite import TestCase
from ..problem.threads import all_parts
from ..problem.turns import ALONE
from .arrays import check_shape, same_bits
from .formats import FLOATS, Array, is_float, numpy_dtype, rounded, stored_dtype
from .troubles import FaultError

SPILL_BITS = 10
_PART = 1 << 18


class SpillError(Exception):
    """float32 is too coarse for these values."""


Expected = Mapping[str, Array]
"""By buffer, row-major and flat: floats in float64 or float32, others as stored."""


def expected_of(
    case: TestCase, arrays: Mapping[str, Any], problem: AbstractContextManager[object] = ALONE
) -> dict[str, Array]:
    """`problem` is held while the problem's code runs. Raises FaultError for outputs that differ from the case's
    specification."""
    with problem:
        results = case.expected(arrays)
    buffers = case.spec.checked
    if set(results) != {buffer.name for buffer in buffers}:
        names = ", ".join(buffer.name for buffer in buffers)
        raise FaultError(
            f"expected() returned {', '.join(sorted(results)) or 'nothing'}; the case has {names}"
        )
    arrays_by_name = {}
    for buffer in buffers:
        array = to_numpy(results[buffer.name])
        check_shape(buffer, array)
        flat = np.ascontiguousarray(array).reshape(-1)
        arrays_by_name[buffer.name] = (
            _floats(buffer, flat, is_ours=on_gpu(results[buffer.name]))
            if is_float(buffer.dtype)
            else _whole(buffer, flat)
        )
    return arrays_by_name


def spilled(case: TestCase, expected: Expected) -> dict[str, Array]:
    """Convert floats to float32. Raises SpillError."""
    return {
        buffer.name: _narrow(expected[buffer.name], case.tolerances[buffer.name])
        if is_float(buffer.dtype)
        else expected[buffer.name]
        for buffer in case.spec.checked
    }


def kept_bytes(spec: CaseSpec, spill: bool) -> int:
    """Bytes per set: expected outputs, and the copy of the first sample's outputs."""
    total = 0
    for buffer in spec.checked:
        item = stored_dtype(buffer.dtype).itemsize
        total += _count(buffer) * (item + ((4 if spill else 8) if is_float(buffer.dtype) else item))
    return total


def check_answers(spec: CaseSpec, sets: Sequence[Expected]) -> None:
    """Raises FaultError if all sets have the same expected outputs: a kernel need not read its inputs."""
    first, *others = sets
    names = [buffer.name for buffer in spec.checked]
    if others and all(same_bits(each[name], first[name]) for each in others for name in names):
        raise FaultError(
            f"the reference returned the same result for all {len(sets)} input sets, so a kernel need not read them; "
            "grade other cases (--case), or let the problem draw inputs that have different results"
        )


def as_output(buffer: Buffer, expected: Array) -> Array:
    """Expected elements rounded to nearest in the output's dtype; `expected` itself if it has that dtype."""
    stored = stored_dtype(buffer.dtype)
    if not is_float(buffer.dtype):
        return expected
    with np.errstate(all="ignore"):
        if stored.kind == "f":  # numpy's own conversions round to nearest
            return np.asarray(expected.astype(stored, copy=False))
        nearest = rounded(expected.astype(np.float64), FLOATS[buffer.dtype])
        return np.asarray(nearest.astype(numpy_dtype(buffer.dtype)).view(stored))


def as_outputs(buffers: Sequence[Buffer], expected: Expected) -> dict[str, Array]:
    """By buffer, as_output()."""
    return {each.name: as_output(each, expected[each.name]) for each in buffers}


def _count(buffer: Buffer) -> int:
    return int(np.prod(buffer.shape, dtype=np.int64))


def _floats(buffer: Buffer, flat: Array, *, is_ours: bool) -> Array:
    """Floats in float32 if that holds their dtype, otherwise in float64. `is_ours`: nobody else uses their memory."""
    if flat.dtype.kind not in "fViub":  # V: ml_dtypes'
        raise FaultError(f"expected() returned {flat.dtype} for {buffer.name}; return real numbers")
    narrow = flat.dtype.itemsize <= 4 and flat.dtype.kind not in "iu"
    values = flat.astype(np.float32 if narrow else np.float64, copy=not is_ours)
    starts = range(0, len(values), _PART)
    if starts and not any(np.isfinite(values[at : at + _PART]).any() for at in starts):
        raise FaultError(
            f"expected() returned no finite number for {buffer.name}, so all-NaN outputs would pass; "
            "fix the reference, or exclude the distribution"
        )
    return values


def _whole(buffer: Buffer, flat: Array) -> Array:
    """Integers and bools. Raises FaultError for values that the dtype cannot represent exactly."""
    target = np.dtype(buffer.dtype)
    with np.errstate(all="ignore"):
        converted = flat.astype(target)
        exact = bool((converted == flat).all()) if flat.dtype != target else True
    if flat.dtype.kind == "f" and exact and len(flat) and target.kind != "b":
        info = np.iinfo(target)
        exact = bool((flat >= float(info.min)).all() and (flat < float(info.max) + 1).all())
    if not exact:
        raise FaultError(
            f"expected() returned values for {buffer.name} that {buffer.dtype} cannot hold exactly"
        )
    return np.asarray(converted.view(stored_dtype(buffer.dtype)))


def _is_wide(tolerance: Tolerance) -> bool:
    """Whether every float32 is near enough to the number that it is rounded from, unless that overflows.

    Rounding is off by at most 2^-24 of a normal number, and by 2^-150 of a smaller one.
    """
    return tolerance.rtol >= 2.0 ** (SPILL_BITS - 24) and tolerance.atol >= 2.0 ** (SPILL_BITS - 150)


def _narrow(values: Array, tolerance: Tolerance) -> Array:
    if values.dtype == np.float32:
        return values
    narrow = np.empty(len(values), np.float32)
    is_near = _is_near_in_range if _is_wide(tolerance) else _is_near

    def is_fine(start: int) -> bool:
        part = slice(start, start + _PART)
        with np.errstate(all="ignore"):
            narrow[part] = values[part]
            return is_near(values[part], narrow[part], tolerance)

    if not all_parts(is_fine, len(values), _PART):
        raise SpillError
    return narrow


def _is_near_in_range(exact: Array, coarse: Array, _: Tolerance) -> bool:
    return bool((np.isfinite(exact) == np.isfinite(coarse)).all())


def _is_near(exact: Array, narrow: Array, tolerance: Tolerance) -> bool:
    coarse = narrow.astype(np.float64)
    allowed = tolerance.atol + tolerance.rtol * np.abs(exact)
    close = np.abs(coarse - exact) * 2.0**SPILL_BITS <= allowed
    same = (coarse == exact) | (np.isnan(coarse) & np.isnan(exact))
    return bool(((close & np.isfinite(coarse)) | same).all())
