"""Numbers of an output that are nearly the same in all input sets, though the right ones differ.

A kernel that writes zeros for the small numbers of an output does not compute them, however much work they need.
other_inputs.py does not find them if they are less than a quarter of the output: only half of them count there, and an
eighth may. But an honest number differs from set to set, as its inputs do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from ..problem.spec import Tolerance
from .formats import Array
from .other_inputs import DRAWN, Drawn, has_room, least_of, numbers_of, rounding_of
from .samples import Copy, Place
from .stored_answers import SETS_MIN

SHARE = 1 / 32
"""The largest share of an output's numbers that may be constants. Results of few bits are equal in two sets now
and then, and rarely in SETS_MIN sets."""

NEARLY = 1 / 16
"""Numbers are constants if they differ by no more than this share of the distance between the right ones."""


def constants(
    place: Place,
    copies: Sequence[Copy],
    answers: Sequence[Mapping[str, Array]],
    tolerance: Tolerance,
    seed: int,
) -> Drawn:
    """Draw numbers of an output. Those that are nearly the same in all sets count where the answers differ."""
    name, dtype = place.buffer.name, place.buffer.dtype
    size = len(copies[0][name])
    at = np.arange(size) if size <= DRAWN else np.random.default_rng(seed).integers(0, size, DRAWN)
    actual = np.stack([numbers_of(dtype, each[name][at]) for each in copies])
    expected = np.stack([each[name][at].astype(np.float64) for each in answers])
    with np.errstate(all="ignore"):
        apart = expected.max(axis=0) - expected.min(axis=0)
        rounding = rounding_of(dtype, np.abs(expected).max(axis=0))
        same = actual.max(axis=0) - actual.min(axis=0) <= NEARLY * apart
    differing = (apart >= np.maximum(least_of(dtype, tolerance), rounding)) & np.isfinite(apart)
    return Drawn(place, at, actual[0], expected[0], apart, differing, differing & same)


def constants_reason(
    places: Sequence[Place],
    copies: Sequence[Copy],
    answers: Sequence[Mapping[str, Array]],
    tolerances: Mapping[str, Tolerance],
    seed: int,
    accepted: Callable[[Drawn], Drawn],
    in_other_roundings: Callable[[], Iterable[Mapping[str, Array]]],
) -> str:
    """Why nothing shows that the call computes its outputs; empty if they show it, or in fewer than SETS_MIN sets.

    `copies` and `answers` are of the problem's own distribution. `accepted` counts only numbers that the problem's own
    check sees. `in_other_roundings` gives further answers to the inputs of the first set: numbers that roundings decide
    do not count.
    """
    if len(copies) < SETS_MIN:
        return ""
    outputs = [
        constants(each, copies, answers, tolerances[each.buffer.name], seed)
        for each in places
        if has_room(each, tolerances[each.buffer.name])
    ]
    outputs = [accepted(each) for each in outputs if each.share > SHARE]
    outputs = [each for each in outputs if each.share > SHARE]
    others = list(in_other_roundings()) if outputs else []
    for answer in others:
        outputs = [each.steady(answer.get(each.place.buffer.name)) for each in outputs]
    outputs = [each for each in outputs if each.share > SHARE]
    if not outputs or not others:
        return ""
    most = max(outputs, key=lambda each: each.share)
    first, name = int(np.flatnonzero(most.counted)[0]), most.place.buffer.name
    return (
        f"{most.share:.0%} of the numbers of {name} are nearly the same in all of {len(copies)} input sets, and "
        f"right only because the tolerance is as wide as the distance of the answers ({name}[{int(most.at[first])}] "
        f"should be {most.expected[first]:.9g} in one of them, is {most.actual[first]:.9g}), so nothing shows that the "
        "call computes them"
    )
