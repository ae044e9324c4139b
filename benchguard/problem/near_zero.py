"""Reject outputs that a problem's own verify_result accepts, where it would accept zeros too.

A test with an absolute tolerance accepts zeros if all expected numbers are smaller, as the elements of a divergence of
long probability vectors are. Outputs must then be within a tenth of the largest expected number, but at least within
twice the error of the reference in the kernel's precision. If that error is as large as the numbers, they are noise
around zero, and zeros are right. NaN and Inf are off by Inf where the expected number is finite in the output's dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .arrays import Array, cast, to_numpy
from .c_types import FLOATS
from .spec import Buffer

SHARE = 0.1
"""Share of the largest expected number. Honest kernels of a lower precision are off by much less."""

MULTIPLE = 2.0
"""Multiple of the reference's own error. Another order of the same operations has errors of about this size."""


def near_zero_reason(
    checked: Sequence[Buffer],
    expected: Sequence[Array],
    actual: Sequence[Array],
    own: Callable[[], Sequence[Array]],
) -> str | None:
    """The reason why outputs are wrong; None if they are right.

    Args:
        checked: the outputs.
        expected: the reference's results, in float64 where it can compute in that.
        actual: the submission's outputs.
        own: computes the reference's results in the kernel's precision.
    """
    found: Sequence[Array] | None = None
    for place, buffer in enumerate(checked):
        if buffer.dtype not in FLOATS:
            continue
        target = to_numpy(expected[place]).astype(np.float64)
        largest = _largest(target)
        off = _off(to_numpy(actual[place]).astype(np.float64), target, to_numpy(cast(target, buffer.dtype)))
        if off <= SHARE * largest:
            continue
        found = own() if found is None else found
        error = MULTIPLE * _largest(to_numpy(found[place]).astype(np.float64).reshape(target.shape) - target)
        if error < largest and off > max(SHARE * largest, error):
            return (
                f"{buffer.name} is off by {off:.3g}, and the largest expected number is {largest:.3g}: verify_result "
                "would accept zeros, so at most a tenth of that number is accepted"
            )
    return None


def _off(numbers: Array, target: Array, rounded: Array) -> float:
    """The largest difference. `rounded` has the target's numbers in the output's dtype, where they may overflow."""
    if (~np.isfinite(numbers) & np.isfinite(rounded.astype(np.float64))).any():
        return float("inf")
    with np.errstate(invalid="ignore"):  # Inf where Inf is right
        return _largest(numbers - target)


def _largest(values: Array) -> float:
    finite = np.abs(values[np.isfinite(values)])
    return float(finite.max(initial=0.0))
