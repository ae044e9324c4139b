"""Tolerances so wide that an answer from a part of an input's elements would pass.

The mean of many random numbers is near the mean of a part of them, so a kernel that reads a part may be right by a
tolerance that is meant for rounding errors (docs/adr/0054). Stored answers (stored_answers.py) need not pass there: a
problem may draw the size of its numbers, too, and then the answers to its input sets are far apart.

So the reference also runs on inputs of the problem's own distribution in which one element of 32 is replaced by another
of the same row. Values and rows stay alike, but these numbers are lost, as for a kernel that does not read them. If all
answers stay within the tolerance, the tolerance of the problem's own sets is the largest change, but at least what
leaves honest kernels right (stored_answers.least_factor). If an answer without these elements would pass even then, or
the suite has no reference in the submission's precision, the result has a note.

Sets of other distributions keep their tolerance: rounding errors may be larger there, and a kernel that reads less is
wrong on the problem's own sets already.

Two kinds of outputs are looked at. One has LOST or more inputs for each number: a number of other outputs depends on
too few inputs for such a mean. The other has as many numbers as the largest inputs: each number may depend on its own
input and on a sum over a row, as in a softmax or a normalisation. The sum of a long row is near its expected value, so
a kernel that knows the distribution need not add. There only the numbers whose own inputs stay are compared. Where none
of them changes, as in an elementwise function, the tolerance stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..problem.arrays import to_numpy
from ..problem.spec import Buffer, Tolerance
from ..problem.threads import in_parts
from .compare import CHUNK
from .formats import Array, is_float
from .reference import Expected
from .slack import Factors

LOST = 32
"""One of this many elements is replaced. Half of them change a sum of independent numbers four times as much."""

PART = 1 << 20
"""Elements that a thread copies at once, with a share of them replaced."""

SETS = 3
"""The change of a single number may be small by chance. The largest of three counts."""

UNCHANGED = 1 << 10
"""An output of at least this many numbers, of which none changes in a set, needs no run on further sets: it may be that
of an elementwise function. One maximum in LOST is lost, and none of this many with a chance of 1e-14."""

Inputs = Mapping[str, Any]
Lost = NDArray[np.bool_]

LeastFactor = Callable[[Buffer], float]
"""The least factor of a buffer's tolerance that leaves honest kernels right."""


@dataclass(frozen=True)
class PartialAnswers:
    """`limits` has the largest factor of a tolerance on the problem's own sets, by buffer. An answer from a part of
    the inputs would pass for the buffers `open`."""

    limits: Mapping[str, float] = field(default_factory=dict)
    open: tuple[str, ...] = ()

    def narrowed(self, factors: Factors) -> dict[str, float]:
        return {**factors, **{name: min(each, factors.get(name, 1.0)) for name, each in self.limits.items()}}


def partial_answers(
    buffers: Sequence[Buffer],
    tolerances: Mapping[str, Tolerance],
    sets: Iterable[tuple[Expected, Factors, Expected]],
    least_factor: LeastFactor,
) -> PartialAnswers:
    """Look for buffers for which an answer from a part of the inputs would pass.

    `sets`: of the problem's own sets, the expected outputs, the factors so far, and the answers to a part of the
    inputs. No set is taken once no buffer is left.
    """
    near = {each.name: each for each in buffers if is_float(each.dtype)}
    widths = dict.fromkeys(near, 0.0)
    allowed = dict.fromkeys(near, 1.0)
    if not near:
        return PartialAnswers()
    for expected, factors, answers in sets:
        for name in list(near):
            width = _change(answers[name], expected[name], tolerances[name])
            widths[name] = max(widths[name], width)
            allowed[name] = max(allowed[name], factors.get(name, 1.0))
            is_unchanged = width == 0 and len(expected[name]) >= UNCHANGED
            if width > factors.get(name, 1.0) or is_unchanged:
                del near[name]
        if not near:
            return PartialAnswers()
    limits, left = {}, []
    for name, buffer in near.items():
        width = widths[name]
        if width == 0:
            continue
        least = least_factor(buffer)
        limit = max(width, least)
        if limit < allowed[name]:
            limits[name] = limit
        if least > width:
            left.append(name)
    return PartialAnswers(limits, tuple(left))


def can_lose(read: Sequence[Buffer], checked: Sequence[Buffer]) -> bool:
    """Whether part_of() changes inputs, and there are at least LOST of them for each number of the outputs."""
    outputs = sum(math.prod(each.shape) for each in checked if is_float(each.dtype))
    return any(math.prod(each.shape) >= LOST * outputs for each in _largest(read))


def looked_at(read: Sequence[Buffer], checked: Sequence[Buffer]) -> list[Buffer]:
    """The outputs to compare. Beside one with as many numbers as the inputs that part_of() changes, also those with
    LOST or more inputs for each number: means of rows beside the normalised rows, say."""
    floats = [each for each in checked if is_float(each.dtype)]
    if can_lose(read, checked):
        return floats
    size = max((math.prod(each.shape) for each in _largest(read)), default=0)
    sizes = {each.name: math.prod(each.shape) for each in floats}
    if size not in sizes.values():
        return []
    return [each for each in floats if sizes[each.name] == size or LOST * sizes[each.name] <= size]


def lost_in(buffers: Sequence[Buffer], arrays: Inputs, part: Inputs) -> Lost:
    """Where `part`, which part_of() made of `arrays`, has another element in any of the largest inputs; flat."""
    pairs = [
        tuple(to_numpy(each[buffer.name]).reshape(-1) for each in (arrays, part))
        for buffer in _largest(buffers)
    ]
    found = np.zeros(pairs[0][0].size if pairs else 0, np.bool_)

    def look(start: int) -> None:
        at = slice(start, start + CHUNK)
        for kept, lost in pairs:
            found[at] |= kept[at] != lost[at]

    in_parts(look, found.size, CHUNK)
    return found


def beside_lost(lost: Lost, expected: Expected, answers: Expected) -> dict[str, Array]:
    """The answers, with the expected numbers at the places of lost elements in outputs of as many numbers. Overwrites
    the answers where it can."""
    return {
        name: _beside_lost(lost, expected[name], each) if each.size == lost.size else each
        for name, each in answers.items()
    }


def _beside_lost(lost: Lost, expected: Array, answer: Array) -> Array:
    made = answer if answer.flags.writeable else answer.copy()

    def fill(start: int) -> None:
        part = slice(start, start + CHUNK)
        np.copyto(made[part], expected[part], where=lost[part])

    in_parts(fill, lost.size, CHUNK)
    return made


def part_of(buffers: Sequence[Buffer], arrays: Inputs, seed: int) -> dict[str, Any]:
    """The inputs, with one of LOST elements of the largest floats replaced by others of the same row.

    Floats of one size lose the same elements, so that pairs of numbers stay pairs.
    """
    return {
        **arrays,
        **{each.name: _part_of(to_numpy(arrays[each.name]), seed) for each in _largest(buffers)},
    }


def _largest(buffers: Sequence[Buffer]) -> list[Buffer]:
    floats = [each for each in buffers if is_float(each.dtype) and each.role != "constant"]
    size = max((math.prod(each.shape) for each in floats), default=0)
    return [each for each in floats if math.prod(each.shape) == size > 1]


def _part_of(array: Array, seed: int) -> Array:
    length = array.shape[-1] if array.ndim and array.shape[-1] > 1 else array.size
    rows = np.ascontiguousarray(array).reshape(-1, length)
    distance = int(np.random.default_rng(seed).integers(1, length))
    flat, made = rows.reshape(-1), np.empty(rows.size, rows.dtype)

    def lose(start: int) -> None:
        """Replace one of each LOST neighbours: drawing whether each is lost took 13 s for 2^31 elements."""
        end = min(start + PART, flat.size)
        made[start:end] = flat[start:end]
        lost = np.arange(start, end, LOST)
        lost += np.random.default_rng((seed, start)).integers(0, LOST, len(lost))
        lost = lost[lost < end]
        made[lost] = flat[lost - lost % length + (lost + distance) % length]

    in_parts(lose, flat.size, PART)
    return made.reshape(array.shape)


def _change(answers: Array, expected: Array, tolerance: Tolerance) -> float:
    """The largest change of an element, in tolerances; infinite if a number is lost."""
    largest = 0.0
    for start in range(0, len(expected), CHUNK):
        part = slice(start, start + CHUNK)
        if np.array_equal(answers[part], expected[part]):
            continue
        with np.errstate(all="ignore"):
            targets = expected[part].astype(np.float64)
            known = np.isfinite(targets)
            changes = np.abs(answers[part].astype(np.float64) - targets)[known]
            changes /= (tolerance.atol + tolerance.rtol * np.abs(targets))[known]
        changes[np.isnan(changes)] = np.inf
        largest = max(largest, float(changes.max(initial=0.0)))
    return largest
