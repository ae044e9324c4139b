"""Tolerances so wide that one stored answer would pass for every input set.

The mean of many random numbers hardly depends on the numbers: the answers to all sets of a case may be within the
suite's tolerance of one number. A kernel that never reads its inputs would pass. The tolerance is then a quarter of
what would let the best stored answer pass, but at least

- twice the reference's own error in the submission's precision, over all sets, and
- a margin of the numbers' size, because honest kernels may add in a less exact order than the reference.

If a stored answer would pass even then, or the suite has no reference in the submission's precision, the tolerance
stays and the result has a note.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..problem.spec import Buffer, Tolerance
from .compare import CHUNK
from .formats import FLOATS, Array, is_float
from .reference import Expected
from .slack import MULTIPLE, Factors, error_of

SETS_MIN = 4
"""Fewer answers may be near each other by chance."""

SHARE = 0.25
"""A kernel that reads half of the inputs of a mean is off by about half of what lets one stored answer pass."""

Baselines = Callable[[], Sequence[Mapping[str, Array]]]
"""The reference's outputs in the submission's precision for each set: slack.baseline_of()."""


@dataclass(frozen=True)
class StoredAnswers:
    """`limits` has the largest factor of a tolerance, by buffer. A stored answer would pass for the buffers `open`."""

    limits: Mapping[str, float] = field(default_factory=dict)
    open: tuple[str, ...] = ()

    def narrowed(self, factors: Factors) -> dict[str, float]:
        limited = {name: min(each, factors.get(name, 1.0)) for name, each in self.limits.items()}
        return {**factors, **limited}


def stored_answers(
    buffers: Sequence[Buffer],
    tolerances: Mapping[str, Tolerance],
    sets: Sequence[Expected],
    factors: Sequence[Factors],
    baselines: Baselines,
) -> StoredAnswers:
    """Look for buffers for which one stored answer would pass in all sets. `factors` are those of slack.py, by set."""
    if len(sets) < SETS_MIN:
        return StoredAnswers()
    widths, near = {}, []
    for buffer in buffers:
        if is_float(buffer.dtype):
            name, widest = buffer.name, max(each.get(buffer.name, 1.0) for each in factors)
            widths[name] = _width([each[name] for each in sets], tolerances[name], widest)
            near += [buffer] if 0 < widths[name] <= widest else []
    if not near:
        return StoredAnswers()
    own = baselines()
    limits: dict[str, float] = {}
    for buffer in near:
        name, width = buffer.name, widths[buffer.name]
        least = least_factor(buffer, tolerances[name], sets, own)
        if least < width:
            limits[name] = max(SHARE * width, least)
    return StoredAnswers(limits, tuple(each.name for each in near if each.name not in limits))


def _width(answers: Sequence[Array], tolerance: Tolerance, enough: float) -> float:
    """Half of the range of an element over the sets, in tolerances, for the element with the widest range.

    A stored answer passes in all sets if this is at most the tolerance's factor. Ends early above `enough`.
    """
    widest = 0.0
    for start in range(0, len(answers[0]), CHUNK):
        parts = np.stack([each[start : start + CHUNK] for each in answers]).astype(np.float64)
        with np.errstate(all="ignore"):
            low, high = parts.min(axis=0), parts.max(axis=0)
            bounds = tolerance.atol + tolerance.rtol * np.maximum(np.abs(low), np.abs(high))
            shares = (high - low) / 2 / bounds
        widest = max(widest, float(shares[np.isfinite(shares)].max(initial=0.0)))
        if widest > enough:
            return widest
    return widest


def least_factor(
    buffer: Buffer,
    tolerance: Tolerance,
    sets: Sequence[Expected],
    own: Sequence[Mapping[str, Array]],
    margin: float = 1.0,
) -> float:
    """The least factor that leaves honest kernels right; infinite without a reference in the submission's precision.

    `margin` is the share of margin_of() that is enough.
    """
    if not all(buffer.name in each for each in own):
        return np.inf
    errors = [
        error_of(buffer, each[buffer.name], answers[buffer.name], tolerance)
        for each, answers in zip(own, sets, strict=True)
    ]
    return max(MULTIPLE * max(errors), margin * margin_of(buffer, tolerance, sets))


def margin_of(buffer: Buffer, tolerance: Tolerance, sets: Sequence[Expected]) -> float:
    """The room for honest errors, in tolerances: 2^-16 of the largest expected number in float32, 2^-7 in float16.

    A sum of 2^20 numbers, one after the other, is off by 2^-15.6 in float32. Infinite for a tolerance of zero.
    """
    arrays = [each[buffer.name] for each in sets]
    largest = max(float(np.abs(each[np.isfinite(each)]).max(initial=0.0)) for each in arrays)
    margin = largest * 2.0 ** -(FLOATS[buffer.dtype].digits * 2 // 3)
    bound = tolerance.atol + tolerance.rtol * largest
    return (margin / bound if bound else np.inf) if margin else 0.0
