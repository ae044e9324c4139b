"""Input sets of another distribution that tell nothing, because roundings decide most elements of the right answer.

A triangular matrix of normal numbers is nearly singular, so a solution with it is another one after roundings of the
matrix, in any precision. Where the problem draws a matrix of its own, with a large diagonal, it is not.

So if outputs for a set of another distribution are wrong, the reference runs on inputs a few roundings away
(nearby.py). If most elements of its own answer are wrong by the set's tolerances, the set does not count. Fewer suffice
where the problem's own check rejects that answer: single elements that rounding decides have no room there. The
problem's own distribution always counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..problem.spec import Buffer, Tolerance
from .compare import compare
from .reference import Expected, as_output

SHARE = 1 / 2
CHECK_SHARE = 1 / 32
"""The largest shares of elements that may be wrong in an answer, for the set to count: by tolerances, and where the
problem's own check rejects the answer. Solutions of 64 such equations in float32 were wrong for 613 of 622 sets. With
all room for roundings, 2 of these sets still count, by tolerances as by a check (numpy)."""


def undecided_answer(
    buffers: Sequence[Buffer],
    expected: Expected,
    answers: Iterable[Expected],
    tolerances: Mapping[str, Tolerance],
    share: float = SHARE,
) -> Expected | None:
    """The first of the reference's answers to inputs nearby in which more than this share of an output is wrong, or
    None."""
    for answer in answers:
        for each in buffers:
            given = as_output(each, answer[each.name])
            found = compare(given, expected[each.name], each.dtype, tolerances[each.name])
            if found.wrong > share * found.elements:
                return answer
    return None
