"""Outputs that a problem's own check accepts although it does not see their numbers.

A check such as `norm(residual) > limit` accepts outputs whose residual is NaN: NaN themselves, or numbers that overflow
in the check. GPU MODE's task qr_py accepts two tensors full of 900.

So outputs that are not near the expected ones are scaled, and the check is asked again. If it accepts the scaled
outputs, too, but rejects the right answer once that is scaled, then it does not see the outputs' numbers, and they are
wrong. A check that accepts a scaled right answer (with a wide tolerance, say) tells nothing.

A check such as `(off > limit).any()` does not see single numbers: it accepts NaN beside one right number, and rejects
all of them scaled because of that one. So other numbers are put into the right answer, in the places where the outputs
are not finite: a check that ignores these places accepts them, and one that rejects them does not see NaN. The numbers
that are far off are also scaled alone, in the outputs and in the right answer.

Arrays are numpy's, as stored, or torch's on the device of the check (on_device.py), with the same functions for both.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from ..problem.arrays import is_torch
from ..problem.spec import Buffer, Tolerance
from ..problem.threads import in_parts
from .compare import CHUNK
from .formats import FLOATS, Array, decoded, is_float, numpy_dtype, stored_dtype

Outputs = Mapping[str, Array]
"""By buffer, flat and as stored, or tensors."""

Masks = Mapping[str, Array]
"""By buffer, the elements to scale."""

Accepts = Callable[[Outputs], bool]

FAR = 1 / 8
"""Numbers that are off by a larger share are far off."""

REPLACED = 4.0
"""Times the largest number of the right answer, but at least times 1."""

SINGLE = 4
"""Bytes of a float32."""

PART_ON_DEVICE = 1 << 26

FACTORS = (7 / 8, 9 / 8)
"""Down and up, so that numbers which overflow only just do not escape both. Input sets take turns."""


def blind_reason(
    of_set: int,
    given: tuple[Sequence[Buffer], Outputs, Accepts],
    right: tuple[Sequence[Buffer], Outputs, Accepts],
    tolerances: Mapping[str, Tolerance],
) -> str | None:
    """Why outputs that the check accepts are wrong; None if they are not.

    `given` are the submission's outputs, `right` the expected ones, each with the check that takes its dtypes.
    `tolerances` are those of the right answer's buffers.
    """
    factor = FACTORS[of_set % len(FACTORS)]
    if all(each.dtype == "bool" for each in given[0]):
        return None
    lost, far = _masks(given[:2], right[:2], tolerances)
    return _lost_reason(right, lost) or _scaled_reason(factor, given, right, far)


def _lost_reason(right: tuple[Sequence[Buffer], Outputs, Accepts], lost: Masks) -> str | None:
    buffers, answer, _ = right
    count = _count(lost)
    if count == 0 or not _sees(right, {each.name: _replaced(each, answer, lost) for each in buffers}):
        return None
    return (
        f"{count} numbers of these outputs are NaN or infinite. The problem's check accepts them, and rejects finite "
        "numbers in their places beside right ones: it does not see NaN"
    )


def _scaled_reason(
    factor: float,
    given: tuple[Sequence[Buffer], Outputs, Accepts],
    right: tuple[Sequence[Buffer], Outputs, Accepts],
    far: Masks,
) -> str | None:
    (buffers, outputs, accepts), (right_buffers, answer, _) = given, right
    if accepts(_scaled(buffers, outputs, factor)):
        if not _sees(right, _scaled(right_buffers, answer, factor)):
            return None
        return (
            f"the problem's check accepts these outputs, and {factor:g} times them, but not {factor:g} times the right "
            "ones: it does not see these numbers (NaN, or numbers that overflow in the check)"
        )
    count = _count(far)
    is_accepted = count > 0 and accepts(_scaled(buffers, outputs, factor, far))
    if is_accepted and _sees(right, _scaled(right_buffers, answer, factor, far)):
        return (
            f"the problem's check accepts these outputs, also with {count} of their numbers scaled by {factor:g}, "
            "but not the right ones with as many scaled: it does not see these numbers"
        )
    return None


def _sees(right: tuple[Sequence[Buffer], Outputs, Accepts], changed: Outputs) -> bool:
    """Whether the check accepts the right answer, and rejects the changed one."""
    _, answer, accepts = right
    return not accepts(changed) and accepts(answer)


def _masks(
    given: tuple[Sequence[Buffer], Outputs],
    right: tuple[Sequence[Buffer], Outputs],
    tolerances: Mapping[str, Tolerance],
) -> tuple[Masks, Masks]:
    """The elements that are not finite where the right answer is, and those that are far off.

    Both are empty if an output has another number of elements.
    """
    lost, far = {}, {}
    for buffer, expected in zip(given[0], right[0], strict=True):
        stored, answer = given[1][buffer.name], right[1][expected.name]
        if stored.shape != answer.shape:
            return {}, {}
        lost[buffer.name], far[buffer.name] = (_mask_for(stored) for _ in range(2))
        both = partial(_mask, buffer, expected, stored, answer, tolerances[expected.name])
        _in_parts(partial(both, lost[buffer.name], far[buffer.name]), stored)
    return lost, far


def _mask(
    buffer: Buffer,
    expected: Buffer,
    stored: Array,
    answer: Array,
    tolerance: Tolerance,
    lost: Array,
    far: Array,
    part: slice,
) -> None:
    """The masks of a part: a whole output in float64 would be several times as large."""
    library = _library_of(stored)
    if stored.dtype == answer.dtype == library.float32:  # wide enough for an eighth
        numbers, targets = stored[part], answer[part]
    else:
        numbers, targets = _numbers(buffer, stored[part]), _numbers(expected, answer[part])
    is_known = library.isfinite(targets)
    lost[part] = is_known & ~library.isfinite(numbers)
    far[part] = is_known & ~_is_near(numbers, targets, tolerance)


def _is_near(numbers: Array, targets: Array, tolerance: Tolerance) -> Array:
    with np.errstate(all="ignore"):
        bounds = tolerance.atol + max(FAR, tolerance.rtol) * abs(targets)
        near: Array = abs(numbers - targets) <= bounds
        return near


def _count(masks: Masks) -> int:
    return sum(int(each.sum()) for each in masks.values())


def _numbers(buffer: Buffer, stored: Array) -> Array:
    if is_torch(stored):
        return _converted(stored, _library_of(stored).float64)
    return decoded(buffer.dtype, stored) if is_float(buffer.dtype) else stored.astype(np.float64)


def _replaced(buffer: Buffer, answer: Outputs, masks: Masks) -> Array:
    """The answer with finite numbers in the masked places that no tolerance admits."""
    stored, mask = answer[buffer.name], masks[buffer.name]
    if not is_float(buffer.dtype) or not mask.any():
        return stored
    if is_torch(stored):
        return _replaced_on_device(buffer, stored, mask)
    numbers, limit = decoded(buffer.dtype, stored), FLOATS[buffer.dtype].largest
    size = min(REPLACED * max(1.0, float(np.abs(numbers[np.isfinite(numbers)]).max(initial=0.0))), limit)
    others = np.where(numbers < 0, size, -size).astype(numpy_dtype(buffer.dtype))
    return np.where(mask, others.view(stored_dtype(buffer.dtype)), stored)


def _replaced_on_device(buffer: Buffer, stored: Array, mask: Array) -> Array:
    torch = _library_of(stored)
    largest = float(torch.where(torch.isfinite(stored), stored, 0).abs().max())
    size = min(REPLACED * max(1.0, largest), FLOATS[buffer.dtype].largest)
    others = _converted(torch.where(stored < 0, size, -size), stored.dtype)
    replaced: Array = torch.where(mask, others, stored)
    return replaced


def _scaled(
    buffers: Sequence[Buffer], outputs: Outputs, factor: float, masks: Masks | None = None
) -> Outputs:
    """The outputs with all elements scaled, or those of the masks."""
    scaled = {}
    for each in buffers:
        stored = outputs[each.name]
        scaled[each.name] = _library_of(stored).empty_like(stored)
        mask = None if masks is None else masks[each.name]
        _in_parts(partial(_scale, each, stored, factor, mask, scaled[each.name]), stored)
    return scaled


def _scale(
    buffer: Buffer, stored: Array, factor: float, mask: Array | None, scaled: Array, part: slice
) -> None:
    moved = _times(buffer, stored[part], factor)
    scaled[part] = moved if mask is None else _library_of(stored).where(mask[part], moved, stored[part])


def _times(buffer: Buffer, stored: Array, factor: float) -> Array:
    if buffer.dtype == "bool":
        return stored
    if is_torch(stored):
        wide = stored.dtype if stored.itemsize >= SINGLE else _library_of(stored).float32
        return _converted(_converted(stored, wide) * factor, stored.dtype)
    if not is_float(buffer.dtype):
        return _whole_times(stored, factor)
    with np.errstate(all="ignore"):
        if stored.dtype.kind == "f":  # the factor has few digits, so this is the exact product, rounded once
            return np.asarray(stored * stored.dtype.type(factor))
        numbers = (decoded(buffer.dtype, stored) * factor).astype(numpy_dtype(buffer.dtype))
    return np.asarray(numbers.view(stored_dtype(buffer.dtype)))


def _whole_times(stored: Array, factor: float) -> Array:
    """Rounded away from the number itself, so that no number but 0 stays. A result beyond the dtype's range does."""
    steps = stored.astype(np.float64) * (factor - 1)
    moved = stored.astype(np.float64) + np.copysign(np.ceil(np.abs(steps)), steps)
    limits = np.iinfo(stored.dtype)
    fits = (moved >= limits.min) & (moved < limits.max)
    return np.where(fits, np.where(fits, moved, 0).astype(stored.dtype), stored)


def _converted(tensor: Any, dtype: Any) -> Array:
    array: Array = tensor.to(dtype)
    return array


def _library_of(array: Array) -> ModuleType:
    return sys.modules["torch"] if is_torch(array) else np


def _mask_for(array: Array) -> Array:
    library = _library_of(array)
    mask: Array = library.empty_like(array, dtype=library.bool_ if library is np else library.bool)
    return mask


def _in_parts(work: Callable[[slice], object], array: Array) -> None:
    """Call `work` with each part of an array: in threads on the host, one after the other on a device."""
    if is_torch(array):
        for start in range(0, len(array), PART_ON_DEVICE):
            work(slice(start, start + PART_ON_DEVICE))
        return
    in_parts(lambda start: work(slice(start, start + CHUNK)), len(array), CHUNK)
