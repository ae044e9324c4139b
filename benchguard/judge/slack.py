"""How far a problem's own reference is off in the submission's precision, and the tolerances that follow from it.

A reference that is computed in float64 is compared with outputs of float32 or less. Rounding alone can exceed a suite's
tolerance: 40 layers of a GRU in float32 are off by 1.6e-4, where KernelBench allows 1e-4. So a set's tolerance is
multiplied by twice the largest error of the reference, in units of the tolerance, if that is more than 1: the problem's
own reference, submitted unchanged, is right. For KernelBench that error includes convolutions in TF32
(adapters/tf32.py).

The suite's own harness compares a submission with the reference in the submission's precision. So an output that it
accepts is off from the exact number by up to the tolerance and the reference's error. An error below 1 tolerance is
therefore added to the tolerance.

Where all expected numbers of a set are within the suite's tolerance of zero (a softmax over a long row, say), zeros
would pass. The factor is then below 1: the tolerance is a tenth of what would let zeros pass, but at least twice the
reference's own error. If that would still let zeros pass, the numbers are noise around zero, and zeros are right. The
same holds for a default tolerance, where a problem gives none.

Where rounding decides elements (a threshold, a sum near zero), the reference in the submission's precision may be off
there by far more than elsewhere. These elements are held against its answers to inputs a few roundings away
(nearby.py), so that they widen the tolerance of no other element.

Where the reference overflows or has no number in the submission's precision, its own value is the expected one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..problem.spec import Buffer, Tolerance
from ..problem.suite import TestCase
from ..problem.threads import in_parts
from ..problem.turns import ALONE
from .arrays import elements_of, memory_of
from .compare import CHUNK
from .formats import Array, Doubles, decoded, is_float
from .nearby import ROUNDING_SHARE, SHARE, Range
from .reference import Expected
from .troubles import FaultError

MULTIPLE = 2.0
"""Another order of the same operations has errors of about this size."""

ZEROS_SHARE = 0.1
"""Share of the factor under which zeros would pass. Honest kernels of a lower precision are off by much less."""

FAR = 16.0
"""Errors beyond so many tolerances, in few elements, may be decisions of rounding, or sums near zero."""

ADDED_MIN = 0.05
"""A smaller error is not added: the result would have a factor, and a note, that change nothing."""

Factors = Mapping[str, float]
"""By buffer; a buffer that is missing has the factor 1."""

Answers = Callable[[], Iterable[Expected]]
"""The reference's answers to inputs nearby. They are computed as they are taken."""


def baseline_of(
    case: TestCase, inputs: Mapping[str, Any], problem: AbstractContextManager[object] = ALONE
) -> dict[str, Array]:
    """The reference's outputs in the submission's precision, flat, as stored; empty if the suite has none.

    `problem` is held while the problem's code runs.
    """
    return _run(case, "baseline", inputs, problem)


def in_own_precision(
    case: TestCase, inputs: Mapping[str, Any], problem: AbstractContextManager[object] = ALONE
) -> dict[str, Array]:
    """The same for problems of all suites; empty if the reference runs in no other precision."""
    return _run(case, "baseline", inputs, problem) or _run(case, "native", inputs, problem)


def _run(
    case: TestCase, name: str, inputs: Mapping[str, Any], problem: AbstractContextManager[object]
) -> dict[str, Array]:
    run = getattr(case, name, None)
    if not callable(run):
        return {}
    with problem:
        given = run(inputs)
    buffers = [each for each in case.spec.checked if each.name in given]
    return {each.name: elements_of(each, memory_of(each, given[each.name])).reshape(-1) for each in buffers}


def default_baseline_of(
    case: TestCase,
    inputs: Mapping[str, Any],
    expected: Mapping[str, Array] | None = None,
    problem: AbstractContextManager[object] = ALONE,
) -> dict[str, Array]:
    """As baseline_of(), for outputs of a problem that leaves their tolerance to the defaults, which know nothing of
    their size. With `expected`, only for outputs for which zeros would pass, and the reference runs only if there are
    any."""
    names: frozenset[str] = getattr(case, "default_tolerances", frozenset())
    buffers = [each for each in case.spec.checked if each.name in names and is_float(each.dtype)]
    if expected is not None:
        buffers = [
            each for each in buffers if _accepts_zeros(expected[each.name], case.tolerances[each.name])
        ]
    answers = _run(case, "native", inputs, problem) if buffers else {}
    return {each.name: answers[each.name] for each in buffers if each.name in answers}


def _accepts_zeros(expected: Array, tolerance: Tolerance) -> bool:
    for start in range(0, len(expected), CHUNK):
        sizes = np.abs(expected[start : start + CHUNK].astype(np.float64))
        with np.errstate(all="ignore"):
            if (sizes > tolerance.atol + tolerance.rtol * sizes).any():
                return False
    return True


def narrowed_for(
    case: TestCase, baseline: Mapping[str, Array], expected: Mapping[str, Array]
) -> dict[str, float]:
    """The factors by which default tolerances are narrowed where zeros would pass. They are never widened."""
    _, factors = allow_for(case, baseline, expected)
    return {name: factor for name, factor in factors.items() if factor < 1}


def allow_for(
    case: TestCase, baseline: Mapping[str, Array], expected: Mapping[str, Array], nearby: Answers = tuple
) -> tuple[dict[str, Array], dict[str, float]]:
    """The expected outputs and the factors of the tolerances. Raises FaultError if no tolerance would mean anything."""
    found, factors = dict(expected), {}
    for buffer in case.spec.checked:
        if buffer.name in baseline and is_float(buffer.dtype):
            found[buffer.name], factor = _of_buffer(
                buffer, baseline[buffer.name], expected[buffer.name], case.tolerances[buffer.name], nearby
            )
            if factor != 1:
                factors[buffer.name] = factor
    return found, factors


def error_of(buffer: Buffer, own: Array, expected: Array, tolerance: Tolerance) -> float:
    """The largest error of the reference in the submission's precision, in tolerances. `own` is as stored."""
    return _over_chunks(buffer, own, expected, tolerance).error


def widened(tolerances: Mapping[str, Tolerance], factors: Factors) -> dict[str, Tolerance]:
    """The tolerances times their factors, which may be below 1."""
    return {
        name: Tolerance(each.atol * factors.get(name, 1.0), each.rtol * factors.get(name, 1.0))
        for name, each in tolerances.items()
    }


def _of_buffer(
    buffer: Buffer, own: Array, expected: Array, tolerance: Tolerance, nearby: Answers
) -> tuple[Array, float]:
    """`own` is as stored. The expected values, and the factor of the tolerance."""
    found = _over_chunks(buffer, own, expected, tolerance)
    if found.error > FAR and found.beyond <= ROUNDING_SHARE * len(own):
        found.error = _error_nearby(buffer, own, found, tolerance, nearby())
    own_factor = MULTIPLE * found.error
    if 0 < found.size <= 1 and own_factor < found.size:
        return found.expected, max(ZEROS_SHARE * found.size, own_factor)
    factor = max(1.0, own_factor)
    if found.error >= ADDED_MIN and found.size > 1 + found.error:
        factor = max(factor, 1 + found.error)
    if 1 < found.size <= factor:
        raise FaultError(
            f"the reference in {buffer.dtype} is off by {factor / MULTIPLE:.3g} times the tolerance of "
            f"{buffer.name}, so that zeros would pass; grade in a higher precision"
        )
    return found.expected, factor


def _error_nearby(
    buffer: Buffer, own: Array, found: _Found, tolerance: Tolerance, answers: Iterable[Expected]
) -> float:
    """The largest error of the reference, where all its answers to inputs nearby are right."""
    only_roundings = found.beyond > SHARE * len(own)
    range_, error = Range(buffer.dtype, own, found.expected, only_roundings=only_roundings), found.error
    for answer in answers:
        range_.widen(answer[buffer.name])
        error = _over_chunks(buffer, own, range_.targets(), tolerance).error
        if error <= 1:
            break
    return error


@dataclass
class _Found:
    """`error` is the largest error of the reference, `size` the largest expected number, both in tolerances."""

    expected: Array
    error: float = 0.0
    size: float = 0.0
    beyond: int = 0
    """The number of elements whose error is over 1 tolerance."""

    def add(self, error: float, size: float, beyond: int) -> None:
        self.error, self.size = max(self.error, error), max(self.size, size)
        self.beyond += beyond


def _over_chunks(buffer: Buffer, own: Array, expected: Array, tolerance: Tolerance) -> _Found:
    """Chunk by chunk: whole arrays in float64 would be several times as large as the output."""
    found = _Found(expected)
    lock = threading.Lock()

    def look(start: int) -> None:
        numbers, targets = decoded(buffer.dtype, own[start : start + CHUNK]), expected[start : start + CHUNK]
        with np.errstate(all="ignore"):
            of_finite = _errors_of_finite(numbers, targets, tolerance)
            if of_finite is not None:
                error, size, beyond = of_finite
                with lock:
                    found.add(error, size, beyond)
                return
            known = np.isfinite(numbers)
            lost = np.isfinite(targets) & ~known
            sizes = np.abs(targets.astype(np.float64))
            bounds = tolerance.atol + tolerance.rtol * sizes
            compared = np.isfinite(sizes) & known & (bounds > 0)
            errors = (np.abs(numbers - targets) / bounds)[compared]
            size = float((sizes / bounds)[compared].max(initial=0.0))
        with lock:
            found.add(float(errors.max(initial=0.0)), size, int((errors > 1).sum()))
            if lost.any():
                if found.expected is expected:
                    found.expected = expected.copy()
                found.expected[start : start + CHUNK][lost] = numbers[lost]

    in_parts(look, len(own), CHUNK)
    return found


def _errors_of_finite(
    numbers: Doubles, targets: Array, tolerance: Tolerance
) -> tuple[float, float, int] | None:
    """The largest error and size, in tolerances, and the number of errors over 1. Overwrites `numbers`.

    None, with `numbers` as they were, if a bound may be 0, or an element is not finite: these need masks, which take
    most of the time.
    """
    if tolerance.atol <= 0:
        return None
    differences = np.subtract(numbers, targets)
    absolute = max(float(differences.max()), -float(differences.min()))
    if not np.isfinite(absolute):
        return None
    sizes = np.abs(targets, out=numbers)
    largest = float(sizes.max())
    size = largest / (tolerance.atol + tolerance.rtol * largest)  # grows with the element
    if absolute == 0:
        return 0.0, size, 0
    np.abs(differences, out=differences)
    np.multiply(sizes, tolerance.rtol, out=sizes)
    np.add(sizes, tolerance.atol, out=sizes)
    errors = np.divide(differences, sizes, out=differences)
    error = float(errors.max())
    return error, size, int(np.count_nonzero(errors > 1)) if error > 1 else 0
