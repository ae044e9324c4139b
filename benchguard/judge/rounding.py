"""Room for rounding errors in input sets of another distribution than the problem's own.

A tolerance has room for the rounding errors of the problem's own inputs. Other inputs may need more: sorted numbers
have partial sums a thousand times as large as random ones, and numbers that are nearly equal cancel. A sum of 8 Mi
floats with a tolerance of 0.03 is off by 0.0004 on random inputs, and by 0.1 on sorted ones.

So an output that is wrong for such a set is compared again, with its tolerance times MULTIPLE * error / own error. Both
errors are those of the reference in float32: on this set, and on the problem's own. They are measured only once an
output is wrong. The tolerance stays where float32 is exact enough (ERROR_MIN), and where floats of a lower precision
are read or written: their kernels compute in float32, and the reference in their precision does not.

On the problem's own inputs a default tolerance, where a problem gives none, has room for twice the error.

numpy and torch add in pairs. Where equal numbers are added one after the other, the errors of the reference are too
small, and the tolerance has room for those of such a sum (drift.py).

Each element has a factor of its own (LIFT). Where the problem's own check decides, the tolerance is a default, and the
unit of the errors is what the check accepts (width_of).

A kernel that leaves out a part of its work is off by far more on these sets. A kernel in a lower precision is wrong on
the problem's own inputs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from itertools import chain, islice
from typing import Any

import numpy as np

from ..problem.arrays import to_numpy
from ..problem.spec import Buffer, Tolerance
from ..problem.suite import TestCase
from .compare import CHUNK
from .drift import drift_of
from .formats import FLOATS, Array, decoded, is_float
from .medians import median
from .nearby import shifted
from .reference import Expected, as_output, expected_of
from .slack import MULTIPLE, in_own_precision, widened

ERROR_MIN = 1 / 64
"""The least error of the reference that widens a tolerance. With a smaller one, a kernel may be off 64 times as far."""

OWN_MIN = 1 / 256
"""Smaller errors on the problem's own inputs count as this: they would widen the tolerance without limit."""

OWN_SETS = 3
TRIES = 4
"""Errors of one sum are random. So are those on inputs a few roundings away, and the largest of these counts."""

LIFT = 16.0
"""An element's error counts as this many times as large, but at most as the largest one of its output: all TRIES may be
small by chance. Elements whose errors are far smaller than the largest one, as the sums of small numbers are beside
those of large ones, have no room."""

ERROR_MAX = 1e30
"""Errors are kept in float32."""

WIDTH_BITS = 40
"""A problem's own check counts as at most 2^40 times as wide as the tolerance."""

DIGITS = FLOATS["float32"].digits

Inputs = Mapping[str, Any]
Factors = Mapping[str, Array]
"""By output, a factor for each element."""

Widths = Mapping[str, float]
"""By output, how many times the tolerance the problem's own check accepts; an output that is missing has 1."""

_NO_WIDTHS: Widths = {}

OwnSets = Callable[[], Iterable[tuple[Inputs, Expected, Widths]]]
"""Input sets of the problem's own distribution, with their expected outputs."""


class Rounding:
    """The rounding errors of a case's reference. Thread-safe; `problem` is held while the problem's code runs."""

    def __init__(self, case: TestCase, own: OwnSets, problem: AbstractContextManager[object]) -> None:
        self._case, self._own_sets, self._problem = case, own, problem
        self._own_errors: dict[str, float] | None = None
        self._lock = threading.Lock()

    def factors(self, inputs: Inputs, expected: Expected, widths: Widths = _NO_WIDTHS) -> Iterator[Factors]:
        """By how much the tolerances of a set may be wider: never less than before. Empty if by nothing.

        `widths`: of the problem's own check on this set, if that decides.
        """
        if not self._is_precise():
            return
        drifts = self._drifts(inputs, expected, widths)
        yield _above_one(drifts)
        own = self._own()
        for largest in self._largest_errors(inputs, expected, widths):
            found = {name: _factors_of(errors, own.get(name, 1.0)) for name, errors in largest.items()}
            yield _above_one({name: np.maximum(found.get(name, 1.0), each) for name, each in drifts.items()})

    def factors_of_defaults(self, inputs: Inputs, expected: Expected) -> Iterator[Factors]:
        """The factors of default tolerances on a set of the problem's own distribution: a default knows nothing of the
        outputs, and may be less than the errors of the reference in float32."""
        names: frozenset[str] = getattr(self._case, "default_tolerances", frozenset())
        if not names or not self._is_precise():
            return
        for largest in self._largest_errors(inputs, expected, _NO_WIDTHS):
            yield _above_one({name: _factors_of(largest[name], 1.0) for name in names & largest.keys()})

    def _largest_errors(
        self, inputs: Inputs, expected: Expected, widths: Widths
    ) -> Iterator[Mapping[str, Array]]:
        """The largest errors so far, after each of the TRIES."""
        largest: dict[str, Array] = {}
        for given in islice(chain([inputs], shifted(self._case.spec.read, inputs)), TRIES):
            for name, error in self._errors(given, expected if given is inputs else None, widths).items():
                largest[name] = np.maximum(largest.get(name, 0.0), error)
            yield largest

    def _drifts(self, inputs: Inputs, expected: Expected, widths: Widths) -> Factors:
        """By output, the factors for sums of as many numbers as there are inputs for each of its elements."""
        arrays = [to_numpy(inputs[each.name]) for each in self._case.spec.read if is_float(each.dtype)]
        most, found = max((each.size for each in arrays), default=0), {}
        for buffer in self._case.spec.checked:
            if is_float(buffer.dtype) and buffer.elements:
                share = drift_of(arrays, most // buffer.elements)
                tolerance = self._tolerance(buffer.name, widths)
                found[buffer.name] = _factors_of_sums(expected[buffer.name], share, tolerance)
        return found

    def _tolerance(self, name: str, widths: Widths) -> Tolerance:
        return widened(self._case.tolerances, widths)[name]

    def _is_precise(self) -> bool:
        """Whether all floats are of float32 or more."""
        buffers = (*self._case.spec.read, *self._case.spec.checked)
        return all(FLOATS[each.dtype].digits >= DIGITS for each in buffers if is_float(each.dtype))

    def _own(self) -> Mapping[str, float]:
        with self._lock:
            if self._own_errors is None:
                errors = [
                    {name: float(error.max(initial=0.0)) for name, error in self._errors(*each).items()}
                    for each in islice(self._own_sets(), OWN_SETS)
                ]
                names = {name for each in errors for name in each}
                self._own_errors = {
                    name: median(np.array([each[name] for each in errors if name in each])) for name in names
                }
            return self._own_errors

    def _errors(self, inputs: Inputs, expected: Expected | None, widths: Widths) -> dict[str, Array]:
        """By output, the errors of the reference in the submission's precision. Empty if its code fails."""
        try:
            given = in_own_precision(self._case, inputs, self._problem)
            if given and expected is None:
                expected = expected_of(self._case, inputs, self._problem)
        except (Exception, SystemExit):
            return {}
        return {
            each.name: _errors_of(
                each, given[each.name], expected[each.name], self._tolerance(each.name, widths)
            )
            for each in self._case.spec.checked
            if expected and each.name in given and is_float(each.dtype)
        }


def _errors_of(buffer: Buffer, own: Array, expected: Array, tolerance: Tolerance) -> Array:
    """The error of each element, in tolerances; 0 where a number is not finite. `own` is as stored."""
    errors = np.zeros(len(own), np.float32)
    for start in range(0, len(own), CHUNK):  # whole arrays in float64 would be several times as large
        part = slice(start, start + CHUNK)
        numbers, targets = decoded(buffer.dtype, own[part]), expected[part].astype(np.float64)
        with np.errstate(all="ignore"):
            found = np.abs(numbers - targets) / (tolerance.atol + tolerance.rtol * np.abs(targets))
        errors[part] = np.where(np.isfinite(found), np.minimum(found, ERROR_MAX), 0.0)
    return errors


def _factors_of(errors: Array, own: float) -> Array:
    """The factor of each element's tolerance. `own` is the largest error on the problem's own inputs."""
    lifted = np.minimum(LIFT * errors, errors.max(initial=0.0))
    factors = MULTIPLE * lifted / min(1.0, max(OWN_MIN, own))
    return np.where(lifted >= ERROR_MIN, np.maximum(factors, 1.0), 1.0)


def _factors_of_sums(expected: Array, share: float, tolerance: Tolerance) -> Array:
    """The factors of elements that may be off by this share of themselves."""
    factors = np.ones(len(expected), np.float32)
    for start in range(0, len(expected), CHUNK) if share else ():
        sizes = np.abs(expected[start : start + CHUNK].astype(np.float64))
        with np.errstate(all="ignore"):
            found = share * sizes / (tolerance.atol + tolerance.rtol * sizes)
        factors[start : start + CHUNK] = np.where(np.isfinite(found), np.clip(found, 1.0, ERROR_MAX), 1.0)
    return factors


def _above_one(factors: Factors) -> Factors:
    return {name: each for name, each in factors.items() if (each > 1).any()}


def width_of(
    buffer: Buffer, expected: Array, tolerance: Tolerance, accepts: Callable[[Array], bool]
) -> float:
    """How many times the tolerance a problem's own check accepts: a power of two, at least 1.

    `accepts` asks it about an output, as stored, whose errors are that many tolerances, up and down in turn.
    """
    targets = expected.astype(np.float64)
    signs = np.where(np.arange(len(targets)) % 2 == 0, 1.0, -1.0)
    with np.errstate(all="ignore"):
        bounds = (tolerance.atol + tolerance.rtol * np.abs(targets)) * signs
    low, high = 0, WIDTH_BITS + 1
    while high - low > 1:
        middle = (low + high) // 2
        with np.errstate(all="ignore"):
            moved = as_output(buffer, targets + bounds * 2.0**middle)
        low, high = (middle, high) if accepts(moved) else (low, middle)
    return 2.0**low


def largest_of(factors: Factors) -> float:
    return max(float(each.max(initial=1.0)) for each in factors.values())


def nearer(buffer: Buffer, actual: Array, expected: Array, factors: Array) -> Array:
    """An output whose errors are divided by the elements' factors, as stored. Infinities have the factor 1."""
    numbers, targets = decoded(buffer.dtype, actual), expected.astype(np.float64)
    with np.errstate(all="ignore"):
        return as_output(buffer, np.where(factors > 1, targets + (numbers - targets) / factors, numbers))
