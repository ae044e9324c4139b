"""Input sets of another distribution that tell nothing, because roundings decide most elements of the right answer.

A triangular matrix of normal numbers is nearly singular, so a solution with it is another one after roundings of the
matrix, in any precision. Where the problem draws a matrix of its own, with a large diagonal, it is not.

So if outputs for a set of another distribution are wrong, the reference runs on inputs a few roundings away
(nearby.py). If most elements of its own answer are wrong by the problem's tolerances, the set does not count. Fewer
suffice where the problem's own check rejects that answer: single elements that rounding decides have no room there. The
problem's own distribution always counts.

A set counts if its answer moves about as far as the inputs: a maximum does, whose tolerance is a rounding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..problem.spec import Buffer, Tolerance
from ..problem.suite import TestCase
from .compare import compare
from .formats import FLOATS, is_float
from .nearby import ULPS
from .reference import Expected, as_output

SHARE = 1 / 2
CHECK_SHARE = 1 / 32
"""The largest shares of elements that may be wrong in an answer, for the set to count: by tolerances, and where the
problem's own check rejects the answer. Solutions of 64 such equations in float32 were wrong for 613 of 622 sets. With
all room for roundings, 2 of these sets still count, by tolerances as by a check (numpy)."""

MOVES = 16
"""An element is wrong only if it moves by more than so many times as far as the inputs."""


def undecided_answer(
    case: TestCase,
    factors: Mapping[str, float],
    expected: Expected,
    answers: Iterable[Expected],
    share: float = SHARE,
) -> Expected | None:
    """The first of the reference's answers to inputs nearby in which more than this share of an output is wrong, or
    None. `factors`: of the set's tolerances, which are never narrower here than the problem's."""
    for answer in answers:
        for each in case.spec.checked:
            name = each.name
            tolerance = _room(each, case.tolerances[name], max(1.0, factors.get(name, 1.0)))
            found = compare(as_output(each, answer[name]), expected[name], each.dtype, tolerance)
            if found.wrong > share * found.elements:
                return answer
    return None


def _room(buffer: Buffer, tolerance: Tolerance, factor: float) -> Tolerance:
    relative = tolerance.rtol * factor
    if is_float(buffer.dtype):
        relative = max(relative, MOVES * ULPS * 2.0 ** -(FLOATS[buffer.dtype].digits - 1))
    return Tolerance(tolerance.atol * factor, relative)
