"""Inputs that hardly change the right answer, so that a kernel which does not read them could pass.

A branch with a small weight, as in the first steps of a training, may change the answer by less than its tolerance, and
still be most of the work. No test of outputs tells a kernel that leaves it out, so the result has a note.

The reference runs on the inputs of one set, but with one input from another set. If the number half way between its
answer and the right one passes, the input is named: such a kernel can know what is typical, and write that. Both sets
have the problem's own distribution.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from ..problem.arrays import to_numpy
from ..problem.spec import Buffer
from ..problem.suite import TestCase
from .formats import Array, is_float
from .reference import Expected, expected_of

TRIED = 4
"""The largest inputs are tried: each costs a run of the reference."""

ELEMENTS_MIN = 64
"""A kernel gains little if it does not read fewer numbers."""

SECONDS = 0.5
"""No further input is tried after this time."""


def ignorable_inputs(
    case: TestCase,
    arrays: Mapping[str, Any],
    others: Mapping[str, Any],
    expected: Expected,
    is_right: Callable[[Expected], bool],
    problem: AbstractContextManager[object],
) -> tuple[str, ...]:
    """The inputs that may come from another set: the answer stays nearly right.

    `arrays` and `others` are the inputs of two sets, and `expected` are the outputs of the first. `is_right` tells
    whether all outputs would pass for that. `problem` is held while the problem's code runs.
    """
    found, end = list[str](), time.monotonic() + SECONDS
    for name in _tried(case.spec.read, case.spec.unseeded):
        if time.monotonic() > end:
            break
        other = others[name]
        if np.array_equal(to_numpy(arrays[name]), to_numpy(other)):
            continue
        try:
            answers = expected_of(case, {**arrays, name: other}, problem)
            if is_right({each: _half_way(answer, expected[each]) for each, answer in answers.items()}):
                found.append(name)
        except (Exception, SystemExit):  # of the problem's code, for inputs that do not belong together
            continue
    return tuple(found)


def _half_way(answer: Array, expected: Array) -> Array:
    """Integers stay as they are."""
    if answer.dtype.kind != "f":
        return answer
    with np.errstate(all="ignore"):
        made = np.subtract(answer, expected, dtype=np.result_type(answer, expected))
        made /= 2
        made += expected
    return np.asarray(made)


def _tried(read: Sequence[Buffer], unseeded: Sequence[str]) -> list[str]:
    """Floats, the largest first: integers may be indices of another input. None if the answer has a single input."""
    sizes = {each.name: math.prod(each.shape) for each in read if each.name not in unseeded}
    floats = [
        each.name
        for each in read
        if is_float(each.dtype) and each.role != "constant" and sizes.get(each.name, 0) >= ELEMENTS_MIN
    ]
    return sorted(floats, key=lambda name: -sizes[name])[:TRIED] if len(sizes) > 1 else []
