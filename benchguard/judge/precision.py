"""Detect errors that look like those of a lower precision than the output's dtype. The result is a note, not a verdict.

Two signs are used, each from a sample of elements whose expected value is neither 0 nor tiny.

Grid: nearly all outputs are exactly representable in a lower precision, although the expected values are not. The
outputs were computed or stored in that precision, and converted.

Size: the median of |error| / |expected|. Operands rounded to p bits give a product, or a sum of products with random
signs, a relative error with a median of about 2**-(p + 1); FLOOR_BITS is that with a margin. Real float32 stays far
below: a sequential sum of n terms has about 2**-24 * sqrt(n) / 3, which is 2**-15.6 for n = 2**20, and a tree of sums
has less; tf32 has about 2**-12. A median ignores single elements (outliers, cancellation) on purpose, because
ill-conditioned elements say nothing about precision. It also misses rounded operands whose errors cancel, as in a long
sum of numbers of one sign. Algorithms that lose digits, and approximations (tanh.approx.f32 has 2**-11), look like a
lower precision too. If the problem has a baseline, outputs at most BASELINE_BITS worse than it get no note.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..problem.spec import DType, Tolerance
from .formats import FLOATS, Array, Doubles, FloatFormat, decoded, rounded
from .medians import median

SAMPLE = 1 << 16
ELEMENTS_MIN = 32
"""With fewer elements, chance would decide."""

SHARE = 0.99
BASELINE_BITS = 2.0
FLOOR_BITS = 2.5
"""A median error of at least 2**-(digits + FLOOR_BITS) counts as that of a format with `digits` digits."""

LOWER: tuple[tuple[str, FloatFormat], ...] = (
    ("float32", FLOATS["float32"]),
    ("tf32 or float16", FloatFormat(11, -126, FLOATS["float32"].largest)),
    ("bfloat16", FLOATS["bfloat16"]),
    ("float8", FloatFormat(4, -126, FLOATS["float32"].largest)),
)
"""From high to low precision. The exponents are float32's, because kernels scale values to fit in float8. The size of
errors alone does not distinguish e4m3 from e5m2."""


@dataclass(frozen=True)
class Errors:
    """Errors of a sample of elements.

    `median` is of the relative errors. `grids` has, for each format in LOWER, the share of outputs on its grid, and
    the share of expected values, rounded to the output's dtype, on its grid.
    """

    count: int = 0
    median: float = 0.0
    grids: tuple[tuple[float, float], ...] = ()


def errors_of(pairs: Sequence[tuple[Array, Array]], dtype: DType, tolerance: Tolerance) -> Errors:
    """The errors of pairs (actual as stored, expected), all flat; at least one pair."""
    step = max(1, sum(len(actual) for actual, _ in pairs) // SAMPLE)
    numbers = decoded(dtype, np.concatenate([actual[::step] for actual, _ in pairs]))
    targets = np.concatenate([expected[::step].astype(np.float64) for _, expected in pairs])
    with np.errstate(all="ignore"):
        tiny = max(tolerance.atol, FLOATS[dtype].smallest_normal)
        comparable = np.isfinite(numbers) & np.isfinite(targets) & (np.abs(targets) > tiny)
        numbers, targets = numbers[comparable], targets[comparable]
        if len(numbers) < ELEMENTS_MIN:
            return Errors(len(numbers))
        nearest = rounded(targets, FLOATS[dtype])
        grids = tuple((_on_grid(numbers, form), _on_grid(nearest, form)) for _, form in LOWER)
        return Errors(len(numbers), median(np.abs(numbers - targets) / np.abs(targets)), grids)


def note(buffer: str, dtype: DType, errors: Errors, baseline: Errors | None = None) -> str:
    """The note; empty if the errors suit the dtype."""
    if errors.count < ELEMENTS_MIN:
        return ""
    digits = FLOATS[dtype].digits
    lower = [(i, name, form) for i, (name, form) in enumerate(LOWER) if form.digits < digits]
    for i, name, _ in reversed(lower):
        ours, theirs = errors.grids[i]
        honest = baseline is not None and baseline.count >= ELEMENTS_MIN and baseline.grids[i][0] >= SHARE
        if ours >= SHARE and theirs < SHARE / 2 and not honest:
            return f"{buffer}: {ours:.0%} of the {dtype} outputs are exact {name} values"
    if baseline is not None and errors.median <= baseline.median * 2.0**BASELINE_BITS:
        return ""
    for _, name, form in reversed(lower):
        if errors.median >= 2.0 ** -(form.digits + FLOOR_BITS):
            return (
                f"{buffer}: {dtype} output has the errors of {name} (median relative error "
                f"2^{math.log2(errors.median):.1f})"
            )
    return ""


def _on_grid(values: Doubles, form: FloatFormat) -> float:
    """The share of values that rounding does not change."""
    return float((rounded(values, form) == values).mean())
