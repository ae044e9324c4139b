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
from .nearby import ULPS, largest_move
from .reference import Expected, as_output

SHARE = 1 / 2
CHECK_SHARE = 1 / 32
"""A set counts if no answer has a larger share of wrong elements: by tolerances, and where the problem's own check
rejects the answer. Solutions of 64 such equations in float32 were wrong for 613 of 622 sets. 2 of these sets count all
the same, by tolerances as by a check (numpy)."""

MOVES = 16
"""An element may move this many times as far as the inputs, whatever its tolerance."""


def undecided_answer(
    case: TestCase,
    factors: Mapping[str, float],
    expected: Expected,
    answers: Iterable[Expected],
    share: float = SHARE,
) -> Expected | None:
    """The first of the reference's answers to inputs nearby in which more than this share of an output is wrong, or
    None. `factors`: of the set's tolerances, which are never narrower here than the problem's."""
    move = largest_move(case.spec.read)
    for answer in answers:
        for each in case.spec.checked:
            name = each.name
            tolerance = _room(each, case.tolerances[name], max(1.0, factors.get(name, 1.0)), move)
            found = compare(as_output(each, answer[name]), expected[name], each.dtype, tolerance)
            if found.wrong > share * found.elements:
                return answer
    return None


def _room(buffer: Buffer, tolerance: Tolerance, factor: float, move: float) -> Tolerance:
    relative = tolerance.rtol * factor
    if is_float(buffer.dtype):  # its own roundings may be coarser than those of the inputs
        relative = max(relative, MOVES * max(move, ULPS * 2.0 ** -(FLOATS[buffer.dtype].digits - 1)))
    return Tolerance(tolerance.atol * factor, relative)
