"""Outputs that a problem's own check accepts although it does not see their numbers.

A check such as `norm(residual) > limit` accepts outputs whose residual is NaN: NaN themselves, or numbers that overflow
in the check. GPU MODE's task qr_py accepts two tensors full of 900.

So outputs that are not near the expected ones are scaled, and the check is asked again. If it accepts the scaled
outputs, too, but rejects the right answer once that is scaled, then it does not see the outputs' numbers, and they are
wrong. A check that accepts a scaled right answer (with a wide tolerance, say) tells nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..problem.spec import Buffer
from .formats import Array, decoded, is_float, numpy_dtype, stored_dtype

Outputs = Mapping[str, Array]
"""By buffer, flat and as stored."""

Accepts = Callable[[Outputs], bool]

FACTORS = (7 / 8, 9 / 8)
"""Down and up, so that numbers which overflow only just do not escape both. Input sets take turns."""


def blind_reason(
    of_set: int,
    given: tuple[Sequence[Buffer], Outputs, Accepts],
    right: tuple[Sequence[Buffer], Outputs, Accepts],
) -> str | None:
    """Why outputs that the check accepts are wrong; None if they are not.

    `given` are the submission's outputs, `right` the expected ones, each with the check that takes its dtypes.
    """
    factor = FACTORS[of_set % len(FACTORS)]
    (buffers, outputs, accepts), (right_buffers, answer, accepts_right) = given, right
    if all(each.dtype == "bool" for each in buffers) or not accepts(_scaled(buffers, outputs, factor)):
        return None
    if accepts_right(_scaled(right_buffers, answer, factor)) or not accepts_right(answer):
        return None
    return (
        f"the problem's check accepts these outputs, and {factor:g} times them, but not {factor:g} times the right "
        "ones: it does not see these numbers (NaN, or numbers that overflow in the check)"
    )


def _scaled(buffers: Sequence[Buffer], outputs: Outputs, factor: float) -> Outputs:
    return {each.name: _times(each, outputs[each.name], factor) for each in buffers}


def _times(buffer: Buffer, stored: Array, factor: float) -> Array:
    if buffer.dtype == "bool":
        return stored
    if not is_float(buffer.dtype):
        return _whole_times(stored, factor)
    with np.errstate(all="ignore"):
        numbers = (decoded(buffer.dtype, stored) * factor).astype(numpy_dtype(buffer.dtype))
    return np.asarray(numbers.view(stored_dtype(buffer.dtype)))


def _whole_times(stored: Array, factor: float) -> Array:
    """Rounded away from the number itself, so that no number but 0 stays. A result beyond the dtype's range does."""
    steps = stored.astype(np.float64) * (factor - 1)
    moved = stored.astype(np.float64) + np.copysign(np.ceil(np.abs(steps)), steps)
    limits = np.iinfo(stored.dtype)
    fits = (moved >= limits.min) & (moved < limits.max)
    return np.where(fits, np.where(fits, moved, 0).astype(stored.dtype), stored)
