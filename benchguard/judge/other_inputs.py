"""Outputs as near to the answers to other inputs as to the expected ones.

Many numbers of an output may be within the tolerance of a constant beside others that are not: in the gradient of a
cross entropy over a long row, all but that of the label are near zero. Neither zeros nor a stored answer pass there, so
the tolerance is not narrowed (slack.py, stored_answers.py), and a kernel that writes zeros for the small numbers reads
no input. A problem's own check is not narrowed at all.

So numbers of each set of the problem's own distribution are drawn at random. If many of them are nearer to those that
are expected for another set, nothing shows that the call computes them: half of them are for a constant, and one in
13 for an error of an eighth of the distance between answers. Numbers that roundings decide do not count: those in which
the reference in the submission's precision is off, too, or that change where inputs move by a few roundings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..problem.spec import DType, Tolerance
from .formats import FLOATS, Array, Doubles, decoded, is_float
from .samples import Copy, Place

SHARE = 1 / 8
"""The largest share of an output's numbers that may be nearer to those of other inputs. With keys and values of 4 bits,
as a task of GPU MODE permits with a tolerance of 0.1, an attention has about 1/16."""

CUT_SHARE = 3 / 8
"""The largest share for integers that are equal to the expected ones or, all in one direction, 1 off: an integer
division cuts off what the reference rounds. For means of 6561 bytes the share is a fifth, and for a constant a half."""

CHANCE = 0.8
"""Besides SHARE, so much divided by the root of the number of numbers may be nearer by chance. A mean of 65,536 numbers
from 1 to 1.03, added one after the other in float32, is off by a third of the distance between two answers. In 2000
simulated grades with one number in each of 20 sets, such a mean never had too many, and a constant always. With 12 sets
a mean had in 1 grade and a constant in 97 %, with 5 sets in 3 grades and in 3 %."""

STEADY = 1 / 8
"""Numbers that roundings change by more of the distance between two answers do not count."""

LEAST = 2.0**-12
"""Answers that differ by less than this share of the absolute tolerance do not count: a kernel may cut them off."""

COMPARED = 1 << 16
"""Each set is compared with several others, or all, if the pairs have no more numbers than this. With
one other set for each of 10 sets, 72 % of 2000 simulated constants for the mean above were found, with all 92 %."""

DRAWN = 1 << 14
"""Numbers that are drawn from a larger output. They give the share in a pair of sets with an error of a percent."""

Outputs = Sequence["Drawn"]


@dataclass(frozen=True)
class Drawn:
    """Some numbers of an output of a set, at the places `at`.

    `counted` are those that are nearer to the numbers of another set, `differing` those for which the two answers
    differ, and `apart` the distances between these answers.
    """

    place: Place
    at: NDArray[np.intp]
    actual: Doubles
    expected: Doubles
    apart: Doubles
    differing: NDArray[np.bool_]
    counted: NDArray[np.bool_]

    @property
    def limit(self) -> float:
        """The largest share of the numbers that may be nearer to those of other inputs."""
        if is_float(self.place.buffer.dtype):
            return SHARE
        errors = self.actual - self.expected
        cut = (errors, -errors, np.abs(self.actual) - np.abs(self.expected))  # down, up, and towards zero
        is_cut = any(np.isin(each, (-1, 0)).all() for each in cut) and np.abs(errors).max(initial=0.0) <= 1
        return CUT_SHARE if is_cut else SHARE

    @property
    def share(self) -> float:
        """The share of the output's differing numbers that count."""
        return float(self.counted.sum()) / max(1, int(self.differing.sum()))

    def within(self, tolerance: Tolerance) -> Drawn:
        """Count only numbers within the tolerance."""
        bounds = tolerance.atol + tolerance.rtol * np.abs(self.expected)
        return replace(self, counted=self.counted & (np.abs(self.actual - self.expected) <= bounds))

    def steady(self, answer: Array | None) -> Drawn:
        """Count only numbers that are nearly the same in another answer to the same inputs, flat; none without it."""
        if answer is None:
            return replace(self, counted=np.zeros_like(self.counted))
        is_steady = np.abs(answer[self.at] - self.expected) <= STEADY * self.apart
        return replace(self, counted=self.counted & is_steady)


def has_room(place: Place, tolerance: Tolerance) -> bool:
    """Whether numbers of an output may differ from the expected ones: floats, and integers with a tolerance."""
    dtype = place.buffer.dtype
    return place.is_comparable and (is_float(dtype) or (dtype != "bool" and tolerance != Tolerance(0.0, 0.0)))


def numbers_of(dtype: DType, stored: Array) -> Doubles:
    return decoded(dtype, stored) if is_float(dtype) else stored.astype(np.float64)


def least_of(dtype: DType, tolerance: Tolerance) -> float:
    """Answers must differ by so much to count."""
    return max(LEAST * tolerance.atol, FLOATS[dtype].smallest_normal if is_float(dtype) else 1.0)


def rounding_of(dtype: DType, sizes: Doubles) -> Doubles:
    """Errors of honest kernels: a sum of 2^20 numbers, one after the other, is off by 2^-15.6 in float32."""
    return 2.0 ** -(FLOATS[dtype].digits * 2 // 3) * sizes if is_float(dtype) else 0 * sizes


def drawn(
    places: Sequence[Place],
    copy: Copy,
    answers: tuple[Mapping[str, Array], Mapping[str, Array]],
    tolerances: Mapping[str, Tolerance],
    seed: int,
) -> Outputs:
    """Draw numbers of a set's outputs that have room for errors. `answers` are those to its inputs, and to others.

    Errors of honest kernels do not count.
    """
    random, found = np.random.default_rng(seed), []
    for place in places:
        name, dtype = place.buffer.name, place.buffer.dtype
        if not has_room(place, tolerances[name]):
            continue
        size = len(copy[name])
        at = np.arange(size) if size <= DRAWN else random.integers(0, size, DRAWN)
        actual = numbers_of(dtype, copy[name][at])
        expected, other = (each[name][at].astype(np.float64) for each in answers)
        least = least_of(dtype, tolerances[name])
        with np.errstate(all="ignore"):
            apart = np.abs(expected - other)
            rounding = rounding_of(dtype, np.maximum(np.abs(expected), np.abs(other)))
            errors = np.abs(actual - expected)
        differing = (apart >= np.maximum(least, rounding)) & np.isfinite(apart)
        counted = differing & (errors > np.abs(actual - other)) & (errors > rounding)
        found.append(Drawn(place, at, actual, expected, apart, differing, counted))
    return found


def pairs_of(sets: Sequence[int], numbers: int) -> list[tuple[int, int]]:
    """Pairs of sets, each in both orders; a set is the first of equally many. A pair has `numbers` numbers."""
    others = COMPARED // max(1, 2 * len(sets) * numbers)
    steps = range(1, 1 + max(1, min(others, (len(sets) - 1) // 2)))
    ahead = [(one, sets[(at + step) % len(sets)]) for step in steps for at, one in enumerate(sets)]
    return [*ahead, *(pair[::-1] for pair in ahead)]


def are_many(pairs: Sequence[Outputs], of_each: int = 2) -> bool:
    """Whether more than SHARE of an output's numbers count. The work may be in a small output, or in the few numbers of
    an output that depend on the inputs. Each set is the first of `of_each` pairs, so its numbers count as often."""
    for output in zip(*pairs, strict=True):
        counted = sum(int(each.counted.sum()) for each in output)
        differing = sum(int(each.differing.sum()) for each in output)
        if counted > min(each.limit for each in output) * differing + CHANCE * math.sqrt(differing * of_each):
            return True
    return False


def _has_many(outputs: Outputs) -> bool:
    return any(each.share > each.limit for each in outputs)


def disturbed(dtype: DType, actual: Array, answers: tuple[Array, Array], seed: int) -> Doubles:
    """The right answer, but numbers that count are off by as much as the actual ones, up or down at random.

    `actual` is as stored. A check that accepts this is as wide as the errors. A check that rejects this may permit
    answers that differ from the expected ones as a whole, by a constant or in sign.
    """
    random = np.random.default_rng(seed)
    numbers, expected, other = decoded(dtype, actual), *(each.astype(np.float64) for each in answers)
    with np.errstate(all="ignore"):
        errors = np.abs(numbers - expected)
        is_nearer = (errors > np.abs(numbers - other)) & np.isfinite(errors)
        return np.where(is_nearer, expected + errors * random.choice((-1.0, 1.0), len(errors)), expected)


def other_inputs_reason(
    pairs: Sequence[Outputs],
    within: Callable[[int], Outputs],
    answers: Callable[[int], Iterable[Mapping[str, Array]]],
    of_each: int = 2,
    other: str = "the answer to other inputs",
) -> str:
    """Why nothing shows that the call computes its outputs; empty if they show it.

    `pairs` has the outputs of pairs of sets. In each pair the outputs are those of the first set, and the same pair in
    the other order is there, too, so a constant is nearer to the other answer in exactly one of both. For one pair at
    most, `within` is asked for the outputs with the numbers that count because of a wide tolerance, and `answers` for
    the reference's in other roundings. `of_each`: see are_many(). `other` names the other answers.
    """
    if not are_many(pairs, of_each):
        return ""
    worst = max(range(len(pairs)), key=lambda at: max(each.share for each in pairs[at]))
    outputs = within(worst)
    others = list(answers(worst)) if _has_many(outputs) else []
    for answer in others:
        outputs = [each.steady(answer.get(each.place.buffer.name)) for each in outputs]
    if not others or not _has_many(outputs):
        return ""
    most = max(outputs, key=lambda each: each.share)
    first, name = int(np.flatnonzero(most.counted)[0]), most.place.buffer.name
    return (
        f"{most.share:.0%} of the numbers of {name} are nearer to {other}, and right only because the tolerance is "
        f"as wide as the distance from there ({name}[{int(most.at[first])}] should be "
        f"{most.expected[first]:.9g}, is {most.actual[first]:.9g}), so nothing shows that the call computes them"
    )
