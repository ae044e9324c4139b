"""Outputs that are right for inputs a few roundings away from the given ones.

Rounding decides some elements: whether a distance is below a threshold, which of two numbers is larger, into which step
a quotient falls, the value of a sum near zero. An honest kernel in float32 and the reference may decide these elements
differently, by far more than a tolerance.

So if few elements of an output are wrong, the reference runs again on inputs of which each number is 1 to ULPS units in
the last place away. A wrong float is right after all if it lies between the smallest and the largest of these answers,
with the tolerance. A wrong integer is right if it equals one of them, or the reference's answer in the submission's
precision.

Another order of a sum has errors like those of moved inputs, though not the same. Where the answers differ by roundings
only, a float is right within ROUNDINGS times their distance from the expected one. That may be so for many elements: in
a product of large numbers, all sums near zero exceed a tolerance that is relative to each element.

The shift depends on a number's magnitude alone. Equal numbers stay equal: ties, symmetry and zeros survive.
Numbers of at most EXACT_BITS significant bits (whole numbers, halves, thresholds) do not move: products of such
numbers are exact in float32, so nothing excuses `<` in place of `<=` there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..problem.arrays import to_numpy
from ..problem.spec import Buffer, DType, Tolerance
from ..problem.suite import TestCase
from ..problem.threads import in_parts
from .compare import CHUNK, Comparison, Places, compare
from .formats import Array, decoded, is_float
from .medians import median
from .reference import Expected, expected_of

RUNS = 8
"""Four pairs of opposite shifts: each pair moves a number, or a difference of numbers, up and down."""

ULPS = 4
SHARE = 1e-3
"""The largest share of an output's elements that may be wrong at first, but 1 element always may: an output can be one
sum. It keeps a bound on elements that nothing decides, if a problem is chaotic."""

INTEGERS_MIN = 16
"""As many integers may be wrong at first in an output of any size, because each must equal one of the answers. One
number near the edge of two bins changes two counts of a histogram."""

ROUNDINGS = 8.0
ROUNDING_MAX = 2.0**-14
"""Roundings change an element by at most this share of a typical one. Products in TF32 or float16 are off by 2^-11."""

ROUNDING_SHARE = 1 / 16
"""The largest share of elements that roundings alone may make wrong. With more, the reference does not run again."""

EXACT_BITS = 11
"""As many as float16 has; the product of two such numbers has at most 22, and float32 holds 24."""

_FLOATS: Mapping[str, tuple[Any, int]] = {"float32": (np.uint32, 23), "float64": (np.uint64, 52)}
"""The integers of the same size, and the explicit bits of the mantissa."""
_STEPS = {
    integers: np.array([*range(-ULPS, 0), *range(1, ULPS + 1)]).astype(integers)
    for integers, _ in _FLOATS.values()
}
"""From -ULPS to ULPS, but not 0, each as its two's complement. Their number is a power of two."""
_MIX = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9)
"""Odd constants of the generator splitmix64."""


@dataclass(frozen=True)
class Output:
    """A submission's output, flat and as stored, and how it compares with the expected one."""

    buffer: Buffer
    actual: Array
    tolerance: Tolerance
    comparison: Comparison

    def most(self, share: float) -> float:
        """The number of elements that may be wrong at first. For integers, SHARE replaces `share`."""
        if not is_float(self.buffer.dtype):
            return max(INTEGERS_MIN, SHARE * self.comparison.elements)
        return max(1.0, share * self.comparison.elements)


def are_few(outputs: Sequence[Output]) -> bool:
    """Whether so few elements of each output are wrong that rounding may have decided them."""
    return all(each.comparison.wrong <= each.most(ROUNDING_SHARE) for each in outputs)


def is_right_nearby(outputs: Sequence[Output], expected: Expected, answers: Iterable[Expected]) -> bool:
    """Whether outputs are right for inputs nearby. `answers` are the reference's, and run as far as needed."""
    doubts = [_Doubt(each, expected[each.buffer.name]) for each in outputs if each.comparison.wrong]
    for answer in answers:
        for each in doubts:
            each.range.widen(answer[each.output.buffer.name])
        if all(each.is_within for each in doubts):
            return True
    return False


class _Doubt:
    """An output with wrong elements. Only elements that may be wrong are looked at again."""

    def __init__(self, output: Output, expected: Array) -> None:
        self.output, dtype = output, output.buffer.dtype
        places = _may_be_wrong(output, expected)
        only_roundings = output.comparison.wrong > output.most(SHARE)
        self.range = Range(dtype, output.actual, expected, places, only_roundings=only_roundings)
        self._actual = output.actual[places]

    @property
    def is_within(self) -> bool:
        targets, output = self.range.targets(), self.output
        return not compare(self._actual, targets, output.buffer.dtype, output.tolerance).wrong


def _may_be_wrong(output: Output, expected: Array) -> Places:
    """The places of all wrong elements, and of few others."""
    actual, dtype, tolerance = output.actual, output.buffer.dtype, output.tolerance
    if not is_float(dtype):
        return np.flatnonzero(actual != expected)
    found: list[Places] = []
    for start in range(0, len(actual), CHUNK):
        targets = expected[start : start + CHUNK].astype(
            np.float64
        )  # as in compare(), whose bounds these are
        with np.errstate(all="ignore"):
            bounds = tolerance.atol + tolerance.rtol * np.abs(targets)
            is_right = np.abs(decoded(dtype, actual[start : start + CHUNK]) - targets) <= bounds
        found.append(start + np.flatnonzero(~(is_right & np.isfinite(targets))))
    return np.concatenate(found)


class Range:
    """The reference's answers to inputs nearby, for each element of an output, or for those at `places`.

    With `only_roundings`, elements count whose answers differ by roundings; the others stay as expected.
    """

    def __init__(
        self,
        dtype: DType,
        actual: Array,
        expected: Array,
        places: Places | None = None,
        *,
        only_roundings: bool = False,
    ) -> None:
        self._is_float = is_float(dtype)
        self._places = slice(None) if places is None else places
        self._only_roundings = only_roundings
        self._typical = _typical(expected) if self._is_float else 0.0
        self._expected = self._low = self._high = expected[self._places]
        self._numbers = decoded(dtype, actual[self._places]) if self._is_float else actual[self._places]

    def widen(self, answer: Array) -> None:
        answer = answer[self._places]
        if self._is_float:
            answer = np.where(np.isfinite(answer), answer, self._expected)
            self._low, self._high = np.fmin(self._low, answer), np.fmax(self._high, answer)
        else:
            self._low = np.where(answer == self._numbers, answer, self._low)

    def targets(self) -> Array:
        """For each element, the number of its range that is next to the actual one."""
        if not self._is_float:
            return self._low
        known = np.isfinite(self._numbers) & np.isfinite(self._expected)
        low, high = self._limits()
        return np.where(known, np.clip(self._numbers, low, high), self._expected)

    def _limits(self) -> tuple[Array, Array]:
        with np.errstate(all="ignore"):
            room = ROUNDINGS * np.maximum(self._high - self._expected, self._expected - self._low)
            rounded = room <= ROUNDING_MAX * self._typical
        low, high = (self._expected, self._expected) if self._only_roundings else (self._low, self._high)
        return np.where(rounded, self._expected - room, low), np.where(rounded, self._expected + room, high)


def _typical(numbers: Array) -> float:
    """The median size of the numbers that are not zero."""
    sizes = np.abs(numbers[np.isfinite(numbers) & (numbers != 0)])
    return median(sizes) if len(sizes) else 0.0


def answers_nearby(
    case: TestCase, arrays: Mapping[str, Any], problem: AbstractContextManager[object]
) -> Iterator[Expected]:
    """The reference's answers to inputs nearby; fewer if the problem's code fails on them. It runs within `problem`."""
    for each in shifted(case.spec.read, arrays):
        try:
            answers = expected_of(case, each, problem)
        except (Exception, SystemExit):
            return
        yield answers


def shifted(buffers: Sequence[Buffer], arrays: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The inputs, RUNS times: with other shifts in each second run, and with the opposite ones in the run after it.

    Yields nothing if there is no number to shift.
    """
    floats = [each.name for each in buffers if each.dtype in _FLOATS]
    for run in range(RUNS):
        given = {name: to_numpy(arrays[name]) for name in floats}
        moved = {name: _shifted(given[name], run // 2, run % 2 == 1) for name in floats}
        if all(each is None for each in moved.values()):
            return
        yield {**arrays, **{name: each for name, each in moved.items() if each is not None}}


def largest_move(buffers: Sequence[Buffer]) -> float:
    """How far shifted() moves a number at most, as a share of the number; 0 if it moves none."""
    given = {each.dtype for each in buffers}
    return max((ULPS * 2.0**-bits for dtype, (_, bits) in _FLOATS.items() if dtype in given), default=0.0)


def _shifted(array: Array, pair: int, is_opposite: bool) -> Array | None:
    """None if no number moves."""
    integers, mantissa = _FLOATS[str(array.dtype)]
    given = np.ascontiguousarray(array).view(integers).reshape(-1)
    moved = np.empty_like(given)
    width = 8 * integers().itemsize
    sign = integers(1 << (width - 1))
    few_bits = integers((1 << (mantissa + 1 - EXACT_BITS)) - 1)
    largest = integers((1 << (width - 1 - mantissa)) - 2)
    steps = -_STEPS[integers] if is_opposite else _STEPS[integers]
    parts_with_other_bits: list[int] = []

    def move(start: int) -> None:
        bits = given[start : start + CHUNK]
        magnitude = bits & ~sign
        others = magnitude + steps[_kinds(magnitude, pair)]  # negative steps wrap around, and so does the sum
        others |= bits & sign
        exponents = magnitude >> integers(mantissa)
        fixed = (magnitude & few_bits) == 0
        fixed |= (exponents == 0) | (exponents >= largest)  # a subnormal, or next to Inf
        np.copyto(others, bits, where=fixed)
        moved[start : start + CHUNK] = others
        if not fixed.all():
            parts_with_other_bits.append(start)

    in_parts(move, len(given), CHUNK)
    return moved.view(array.dtype).reshape(array.shape) if parts_with_other_bits else None


def _kinds(magnitude: Array, pair: int) -> Array:
    """For each magnitude, which of _STEPS its number takes."""
    first, second = map(np.uint64, _MIX)
    with np.errstate(over="ignore"):
        mixed = magnitude.astype(np.uint64)
        mixed += np.uint64(pair + 1)
        mixed *= first
        mixed ^= mixed >> np.uint64(29)
        mixed *= second
    mixed >>= np.uint64(32)
    mixed &= np.uint64(2 * ULPS - 1)
    return mixed
