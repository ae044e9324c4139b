"""Whether errors look like those of a lower precision than the output's dtype promises. A note, never a verdict.

Two signs, each from a sample of elements whose expected value is neither 0 nor tiny.

Grid: all, or nearly all, outputs are numbers that a lower precision has too, though the expected values are not.
They were computed, or stored on the way, in that precision, and converted.

Size: the median of |error| / |expected|. Operands rounded to p bits leave in a product, or in a sum of products
with random signs, a relative error whose median is about 2**-(p + 1); FLOOR_BITS is that, with a margin. Honest
float32 stays far below: a sum of n terms, one after the other, has about 2**-24 * sqrt(n) / 3, which is 2**-15.6 for
n = 2**20, and a tree of sums less; tf32's is about 2**-12. A median hides what happens to a few elements (an outlier,
a cancellation), and that is meant: an ill-conditioned element says nothing of precision. It also hides rounded
operands whose errors cancel, as in a long sum of numbers of one sign. An algorithm that loses digits honestly, or an
approximation (tanh.approx.f32 has 2**-11), has the errors of a lower precision too: hence "looks like". Given the
errors of an honest baseline of the problem, whoever is at most BASELINE_BITS worse than that is not noted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..problem.spec import DType, Tolerance
from .formats import FLOATS, Array, Doubles, FloatFormat, decoded, rounded

SAMPLE = 1 << 16
ELEMENTS_MIN = 32
"""Below, a few lucky elements would say it all."""

SHARE = 0.99
BASELINE_BITS = 2.0
FLOOR_BITS = 2.5
"""A median error of at least 2**-(digits + this) is one of so many digits."""

LOWER: tuple[tuple[str, FloatFormat], ...] = (
    ("float32", FLOATS["float32"]),
    ("tf32 or float16", FloatFormat(11, -126, FLOATS["float32"].largest)),
    ("bfloat16", FLOATS["bfloat16"]),
    ("float8", FloatFormat(4, -126, FLOATS["float32"].largest)),
)
"""From high to low; the range of exponents is float32's, because values are scaled to fit in float8. By size of
errors alone e4m3 and e5m2 cannot be told apart."""


@dataclass(frozen=True)
class Errors:
    """Of a sample of elements. `median` is of the relative errors; `grids` are the shares of elements that lie on the
    grid of each of LOWER, and of expected values, rounded to the output's dtype, that do."""

    count: int = 0
    median: float = 0.0
    grids: tuple[tuple[float, float], ...] = ()


def errors_of(pairs: Sequence[tuple[Array, Array]], dtype: DType, tolerance: Tolerance) -> Errors:
    """Of (actual as stored, expected), each flat; at least one pair."""
    step = max(1, sum(len(actual) for actual, _ in pairs) // SAMPLE)
    numbers = decoded(dtype, np.concatenate([actual[::step] for actual, _ in pairs]))
    wanted = np.concatenate([expected[::step].astype(np.float64) for _, expected in pairs])
    with np.errstate(all="ignore"):
        tiny = max(tolerance.atol, FLOATS[dtype].smallest_normal)
        told = np.isfinite(numbers) & np.isfinite(wanted) & (np.abs(wanted) > tiny)
        numbers, wanted = numbers[told], wanted[told]
        if len(numbers) < ELEMENTS_MIN:
            return Errors(len(numbers))
        nearest = rounded(wanted, FLOATS[dtype])
        grids = tuple((_on_grid(numbers, form), _on_grid(nearest, form)) for _, form in LOWER)
        return Errors(len(numbers), float(np.median(np.abs(numbers - wanted) / np.abs(wanted))), grids)


def note(buffer: str, dtype: DType, errors: Errors, baseline: Errors | None = None) -> str:
    """Empty, or what the errors look like."""
    if errors.count < ELEMENTS_MIN:
        return ""
    digits = FLOATS[dtype].digits
    lower = [(i, name, form) for i, (name, form) in enumerate(LOWER) if form.digits < digits]
    for i, name, _ in reversed(lower):
        ours, theirs = errors.grids[i]
        honest = baseline is not None and baseline.count >= ELEMENTS_MIN and baseline.grids[i][0] >= SHARE
        if ours >= SHARE and theirs < SHARE / 2 and not honest:
            return f"{buffer}: {ours:.0%} of the {dtype} outputs are numbers of {name}"
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
    """The share of values that rounding leaves as they are."""
    return float((rounded(values, form) == values).mean())
