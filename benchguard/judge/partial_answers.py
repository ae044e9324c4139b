"""Tolerances so wide that an answer from a part of an input's elements would pass.

The mean of many random numbers is near the mean of a part of them, so a kernel that reads a part may be right by a
tolerance that is meant for rounding errors (docs/adr/0054). Stored answers (stored_answers.py) need not pass there: a
problem may draw the size of its numbers, too, and then the answers to its input sets are far apart.

So the reference also runs on inputs of the problem's own distribution in which one element of 32 is replaced by another
of the same row, or of the same column, if columns have sizes of their own. Values and rows stay alike, but these
numbers are lost, as for a kernel that does not read them. If all
answers stay within the tolerance, the tolerance of the problem's own sets is the largest change, but at least what
leaves honest kernels right (stored_answers.least_factor). If an answer without these elements would pass even then, or
the suite has no reference in the submission's precision, the result has a note.

Sets of other distributions keep their tolerance: rounding errors may be larger there, and a kernel that reads less is
wrong on the problem's own sets already.

Outputs with LOST or more inputs for each number are compared as a whole. In other outputs a number may depend on its
own input and on a sum over a row, as in a softmax or a normalisation. The sum of a long row is near its expected value,
so a kernel that knows the distribution need not add. There the numbers that change most have lost their own inputs, and
count as unchanged. Their places are not those of the inputs: an output may be transposed, or larger. Where most numbers
do not change, as in an elementwise function, or change by more than the tolerance, as in a product, it stays.

A sum of products of numbers of small spread is near the product of their sums, which costs less. So in one more run the
elements of an input's rows change places: its sums stay, and its numbers meet others. If the answers stay within the
tolerance, it is narrowed to a part of their change. Where the spread is small, the elements of columns do, too, and
those of a second input.

An output may depend on the largest or the least elements alone, as the scale of a quantisation does. Rows keep these
elements. If outputs with many inputs do not change, the reference runs once more without them, and if the answers are
within the tolerance then, it is narrowed to rounding errors: the largest of a part is near that of all.

Inputs of one size lose elements together, and inputs of other sizes in runs of their own: a mean of a small input may
scale each number of a large one. So do integers of few bits beside floats, as pixels or quantised weights beside a
scale.

The numbers of integer outputs, and bools, keep their tolerance. If those with many inputs for each number do not change
by more, the result has the note.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..problem.arrays import to_numpy
from ..problem.spec import Buffer, Tolerance
from ..problem.threads import in_parts
from .compare import CHUNK
from .formats import Array, is_float
from .reference import Expected
from .slack import Factors

LOST = 32
"""One of this many elements is replaced. Half of them change a sum of independent numbers four times as much."""

PAIRS = 1 << 12
"""Pairs of elements that tell whether those of a row or those of a column are alike."""

PART = 1 << 20
"""Elements that a thread copies at once, with a share of them replaced."""

SETS = 3
"""The change of a single number may be small by chance. The largest of three counts."""

GROUPS = 3
GROUP_MIN = 1 << 12
"""Groups of floats, and of small integers, that lose elements in turn, and the least size of a group behind the first:
each costs a run of the reference, and a sum of fewer random numbers is off by a percent, so that tolerances rarely
accept a part of it."""

MOVED_SHARE = 1 / 4
"""A kernel that does not care where the elements of a row are is off by 0.7 of what changes if they move."""

MOVED_MOST = 2.0
"""Tolerances: such a kernel passes where the change is 1.4 tolerances."""

MATRICES = 2
"""Inputs of two dimensions or more, whose elements move along two axes if their spread is small. Each run of the
reference costs time, and only then are sums of products near the products of sums."""

ROW_MIN = 1 << 10
"""Rows of fewer elements would lose too few if they kept the largest and the least."""

EXTREMES_BYTES = 1 << 30
"""Larger inputs are not searched for their largest elements, which takes a second for each GiB."""

SMALL_INTEGERS = frozenset({"bool", "int8", "uint8", "int16", "uint16"})

CLASSES = 8
"""Integers beside floats are masks or classes, not numbers, if they have at most so many values."""

KEPT = 7 / 8
"""This share of an output's numbers keeps its own inputs, if each number has at most four of them."""

FEW = 64
"""Fewer numbers do not tell a typical change."""

DRAWN = 1 << 16
"""Numbers of a larger output that tell its typical change, to a tenth of a percent of its numbers."""

UNCHANGED = 1 << 10
"""An output of at least this many numbers, of which none changes in a set, needs no run on further sets: it may be that
of an elementwise function. One maximum in LOST is lost, and none of this many with a chance of 1e-14."""

Inputs = Mapping[str, Any]

LeastFactor = Callable[[Buffer], float]
"""The least factor of a buffer's tolerance that leaves honest kernels right."""


@dataclass(frozen=True)
class PartialAnswers:
    """`limits` has the largest factor of a tolerance on the problem's own sets, by buffer. An answer from a part of
    the inputs would pass for the buffers `open`."""

    limits: Mapping[str, float] = field(default_factory=dict)
    open: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    """Buffers that did not change."""

    def narrowed(self, factors: Factors) -> dict[str, float]:
        return {**factors, **{name: min(each, factors.get(name, 1.0)) for name, each in self.limits.items()}}

    def with_others(self, others: PartialAnswers) -> PartialAnswers:
        """The narrower limits of both, as for two groups of inputs."""
        open_ = dict.fromkeys((*self.open, *others.open))
        return PartialAnswers({**others.limits, **self.narrowed(others.limits)}, tuple(open_))


@dataclass(frozen=True)
class Movable:
    """An input whose elements may move along an axis."""

    buffer: Buffer
    axis: int


def partial_answers(
    buffers: Sequence[Buffer],
    tolerances: Mapping[str, Tolerance],
    sets: Iterable[tuple[Expected, Factors, Expected]],
    least_factor: LeastFactor,
    *,
    share: float = 1.0,
    most: float = 1.0,
) -> PartialAnswers:
    """Look for buffers for which an answer from a part of the inputs would pass.

    `sets`: of the problem's own sets, the expected outputs, the factors so far, and the answers to a part of the
    inputs. No set is taken once no buffer is left. With a `share` below 1, this part of the change is the tolerance,
    and changes within the room for honest errors do not count. With 0, the tolerance is the room for honest errors.
    Changes of up to `most` tolerances count. Tolerances of integers and bools stay, and such answers would pass.
    """
    near = {each.name: each for each in buffers}
    widths = dict.fromkeys(near, 0.0)
    allowed = dict.fromkeys(near, 1.0)
    if not near:
        return PartialAnswers()
    unchanged: list[str] = []
    for expected, factors, answers in sets:
        for name in list(near):
            width = change(answers[name], expected[name], tolerances[name])
            widths[name] = max(widths[name], width)
            allowed[name] = max(allowed[name], factors.get(name, 1.0))
            is_unchanged = width == 0 and is_float(near[name].dtype) and len(expected[name]) >= UNCHANGED
            if width > most * factors.get(name, 1.0) or is_unchanged:
                del near[name]
                unchanged += [name] * is_unchanged
        if not near:
            return PartialAnswers(unchanged=tuple(unchanged))
    limits, left = {}, []
    for name, buffer in near.items():
        width = widths[name]
        if not is_float(buffer.dtype):
            left.append(name)
            continue
        if width == 0:
            unchanged.append(name)
            continue
        least = least_factor(buffer)
        if 0 < share < 1 and width <= least:  # the order of a sum may differ, and nothing else
            continue
        limit = max(share * width, least)
        if limit < allowed[name]:
            limits[name] = limit
        if least > width and share == 1:
            left.append(name)
    return PartialAnswers(limits, tuple(left), tuple(unchanged))


def is_sum(buffer: Buffer, group: Sequence[Buffer]) -> bool:
    """Whether an output has at least LOST inputs of a group for each of its numbers."""
    return math.prod(group[0].shape) >= LOST * math.prod(buffer.shape)


def groups_of(read: Sequence[Buffer]) -> list[list[Buffer]]:
    """The inputs that lose elements together: those of one size, and the largest first. The largest may have any size.

    Groups of small integers follow those of floats. Larger integers may be indices, with which a reference may end in
    a cycle.
    """
    found = [each for each in read if each.role != "constant" and math.prod(each.shape) > 1]
    floats = [each for each in found if is_float(each.dtype)]
    integers = [each for each in found if each.dtype in SMALL_INTEGERS]
    first, others = (floats, integers) if floats else (integers, [])
    wanted = [each for number, each in enumerate(_sizes(first)) if not number or each >= GROUP_MIN]
    wanted += [each for each in _sizes(others) if each >= GROUP_MIN and each not in wanted]
    return [[each for each in (*first, *others) if math.prod(each.shape) == size] for size in wanted]


def _sizes(buffers: Sequence[Buffer]) -> list[int]:
    """The largest sizes, in descending order."""
    return sorted({math.prod(each.shape) for each in buffers}, reverse=True)[:GROUPS]


def are_numbers(group: Sequence[Buffer], arrays: Inputs) -> bool:
    """Whether inputs are numbers: floats, or integers of many values.

    A mask that seldom leaves out something hardly changes the answers, by less than honest errors.
    """
    if any(is_float(each.dtype) for each in group):
        return True
    return any(_has_many_values(to_numpy(arrays[each.name]).reshape(-1)) for each in group)


def _has_many_values(values: Array) -> bool:
    drawn = np.random.default_rng(len(values)).integers(0, len(values), DRAWN)
    return len(np.unique(values[drawn])) > CLASSES


def beside_lost(expected: Array, answer: Array, tolerance: Tolerance | None = None) -> Array:
    """The answer, with the expected numbers where it has changed most. Overwrites the answer where it can.

    Changes are in tolerances. Numbers within the tolerance of zero do not tell what a typical change is: in a softmax
    over large numbers, nearly all of them are there. Without a tolerance all numbers tell.
    """
    at = slice(None)
    if len(expected) > DRAWN:
        at = np.random.default_rng(len(expected)).integers(0, len(expected), DRAWN)  # type: ignore[assignment]
    changes = _changes(expected[at], answer[at], tolerance)
    if tolerance is not None:
        sizes = np.abs(expected[at].astype(np.float64))
        changes = changes[sizes > tolerance.atol + tolerance.rtol * sizes]
    if len(changes) < FEW:
        return answer
    most = np.quantile(changes, KEPT, method="lower")
    made = answer if answer.flags.writeable else answer.copy()

    def fill(start: int) -> None:
        part = slice(start, start + CHUNK)
        is_lost = _changes(expected[part], made[part], tolerance) > most
        np.copyto(made[part], expected[part], where=is_lost)

    in_parts(fill, len(expected), CHUNK)
    return made


def _changes(expected: Array, answer: Array, tolerance: Tolerance | None) -> Array:
    """The changes in tolerances, or else as they are; infinite where only one of both is a number."""
    with np.errstate(all="ignore"):
        targets = expected.astype(np.float64)
        changes = np.abs(answer.astype(np.float64) - targets)
        if tolerance is not None:
            changes /= tolerance.atol + tolerance.rtol * np.abs(targets)
    same = np.isnan(expected) & np.isnan(answer) | (expected == answer)
    return np.where(same, 0.0, np.where(np.isnan(changes), np.inf, changes))


def part_of(group: Sequence[Buffer], arrays: Inputs, seed: int) -> dict[str, Any]:
    """The inputs, with one of LOST elements of a group replaced by others of the same row, but not the largest.

    They are replaced by others of the same column where these are more alike. All inputs of the group lose the same
    elements, so that pairs of numbers stay pairs.
    """
    given = {each.name: to_numpy(arrays[each.name]) for each in group}
    in_columns = _are_columns_alike(list(given.values()))
    return {**arrays, **{name: _part_of(each, seed, in_columns) for name, each in given.items()}}


def _are_columns_alike(arrays: Sequence[Array]) -> bool:
    """Whether numbers of a column of these arrays, of one shape, are nearer to each other than those of a row."""
    shape = arrays[0].shape
    if len(shape) < 2 or any(each.shape != shape for each in arrays):
        return False
    size, length = arrays[0].size, shape[-1]
    if not 1 < length < size:
        return False
    random = np.random.default_rng(size)
    at = random.integers(0, size, PAIRS)
    in_row = at - at % length + random.integers(0, length, PAIRS)
    in_column = (at + length * random.integers(1, size // length, PAIRS)) % size
    found = [(_distance(each, at, in_column), _distance(each, at, in_row)) for each in arrays]
    return any(2 * column < row for column, row in found) and not any(
        2 * row < column for column, row in found
    )


def _distance(array: Array, one: Array, other: Array) -> float:
    """The median distance of pairs of elements."""
    flat = np.ascontiguousarray(array).reshape(-1)
    with np.errstate(all="ignore"):
        return float(np.median(np.abs(flat[one].astype(np.float64) - flat[other].astype(np.float64))))


def movable(read: Sequence[Buffer]) -> list[Movable]:
    """The inputs whose elements may meet those of another one, or others of their own, and the axes along which they
    move.

    The first is the last axis of the first input with rows. The other axes of the first matrices follow: the numbers
    that are added may be in columns.
    """
    floats = [each for each in read if is_float(each.dtype) and math.prod(each.shape) > 1]
    given = [each for each in floats if each.role != "constant" and each.shape]
    if not floats:
        return []
    rows = [Movable(each, -1) for each in given if each.shape[-1] >= LOST]
    matrices = [each for each in given if len(each.shape) > 1][:MATRICES]
    axes = [Movable(each, axis) for each in matrices for axis in (-2, -1) if each.shape[axis] >= LOST]
    return list(dict.fromkeys((*rows[:1], *axes)))


def moved_in(movable: Movable, arrays: Inputs, seed: int) -> dict[str, Any]:
    """The inputs, with the elements of one input at other places along an axis, so that sums along it stay.

    All rows move alike, but half of the rows farther: pairs of rows may be pairs of one input. A flat input may be a
    matrix, whose rows keep their sums if short runs are reversed.
    """
    name, axis = movable.buffer.name, movable.axis
    array = to_numpy(arrays[name])
    if array.ndim == 1:
        return {**arrays, name: _reversed_in_runs(array)}
    distance = int(np.random.default_rng(seed).integers(1, array.shape[axis]))
    made = np.roll(array, distance, axis=axis)
    if axis == -1:
        rows = made.reshape(-1, made.shape[-1])
        half = len(rows) // 2
        rows[half:] = np.roll(rows[half:], 1 + distance // 2, axis=-1)
    return {**arrays, name: made}


def _reversed_in_runs(array: Array) -> Array:
    made, whole = np.array(array), array.size - array.size % LOST
    made[:whole] = made[:whole].reshape(-1, LOST)[:, ::-1].reshape(-1)
    return made


def is_of_small_spread(array: Any) -> bool:
    """Whether numbers vary by less than half of their mean. The sum of products of others is far from the product of
    their sums."""
    flat = to_numpy(array).reshape(-1)
    drawn = flat[np.random.default_rng(len(flat)).integers(0, len(flat), DRAWN)].astype(np.float64)
    return bool(abs(drawn.mean()) > 2 * drawn.std())


def without_extremes(group: Sequence[Buffer], arrays: Inputs, seed: int) -> dict[str, Any]:
    """The inputs, with others in place of the largest and the least element of each row of a group."""
    return {
        **arrays,
        **{each.name: _without_extremes(to_numpy(arrays[each.name]), seed) for each in group},
    }


def _without_extremes(array: Array, seed: int) -> Array:
    made = np.array(array, order="C").reshape(-1)
    at = _extremes(array)
    if len(at):
        made[at] = made[(at + int(np.random.default_rng(seed).integers(1, made.size))) % made.size]
    return made.reshape(array.shape)


def _extremes(array: Array) -> Array:
    """The places of the largest and the least element of each row, or of a whole array with short rows; flat."""
    length = array.shape[-1] if array.ndim and array.shape[-1] >= ROW_MIN else array.size
    if length < ROW_MIN or array.nbytes >= EXTREMES_BYTES:
        return np.empty(0, np.intp)
    rows = np.ascontiguousarray(array).reshape(-1, length)
    starts = np.arange(0, rows.size, length)
    return np.concatenate((starts + rows.argmax(axis=1), starts + rows.argmin(axis=1)))


def _part_of(array: Array, seed: int, in_columns: bool) -> Array:
    length = array.shape[-1] if array.ndim and array.shape[-1] > 1 else array.size
    rows = np.ascontiguousarray(array).reshape(-1, length)
    distance = int(np.random.default_rng(seed).integers(1, len(rows) if in_columns else length))
    flat, made = rows.reshape(-1), np.empty(rows.size, rows.dtype)

    def lose(start: int) -> None:
        """Replace one of each LOST neighbours: drawing whether each is lost took 13 s for 2^31 elements."""
        end = min(start + PART, flat.size)
        made[start:end] = flat[start:end]
        lost = np.arange(start, end, LOST)
        lost += np.random.default_rng((seed, start)).integers(0, LOST, len(lost))
        lost = lost[lost < end]
        others = (lost + length * distance) % flat.size
        made[lost] = flat[others if in_columns else lost - lost % length + (lost + distance) % length]

    in_parts(lose, flat.size, PART)
    kept = _extremes(array)
    made[kept] = flat[kept]
    return made.reshape(array.shape)


def change(answers: Array, expected: Array, tolerance: Tolerance) -> float:
    """The largest change of an element, in tolerances; infinite if a number is lost."""
    found = [0.0]

    def look(start: int) -> None:
        part = slice(start, start + CHUNK)
        if np.array_equal(answers[part], expected[part]):
            return
        with np.errstate(all="ignore"):
            targets = expected[part].astype(np.float64)
            known = np.isfinite(targets)
            changes = np.abs(answers[part].astype(np.float64) - targets)[known]
            changes /= (tolerance.atol + tolerance.rtol * np.abs(targets))[known]
        changes[np.isnan(changes)] = np.inf
        found.append(float(changes.max(initial=0.0)))

    in_parts(look, len(expected), CHUNK)
    return max(found)
