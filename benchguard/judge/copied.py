"""Outputs that are within their tolerance of an input, so that a kernel which copies the input could pass.

The step of an optimiser may be smaller than the tolerance, and a gradient is its own answer where no norm exceeds the
limit. No test of outputs tells such a copy from the work, so the result has a note.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..problem.arrays import to_numpy
from ..problem.spec import Buffer, Tolerance
from .formats import Array
from .partial_answers import change
from .reference import Expected

DRAWN = 1 << 10
"""Numbers that are compared before all are."""

ELEMENTS_MIN = 64
"""Fewer numbers are near those of an input by chance."""


def copied(
    read: Sequence[Buffer],
    checked: Sequence[Buffer],
    tolerances: Mapping[str, Tolerance],
    sets: Iterable[tuple[Mapping[str, Any], Expected]],
) -> dict[str, str]:
    """The outputs that are within the tolerance of an input of as many numbers in all `sets`, with the input's name.

    `sets` has the inputs and the expected outputs; without any, nothing is known. No set is taken once no output is
    left. A buffer is not compared with itself.
    """
    found = {
        (output.name, each.name)
        for output in checked
        for each in read
        if each.elements == output.elements >= ELEMENTS_MIN and each.name != output.name
    }
    is_known = False
    for arrays, expected in sets if found else ():
        is_known = True
        found = {
            (output, name)
            for output, name in found
            if _is_near(arrays[name], expected[output], tolerances[output])
        }
        if not found:
            break
    return dict(sorted(found)) if is_known else {}


def _is_near(array: Any, expected: Array, tolerance: Tolerance) -> bool:
    flat = array.reshape(-1)
    at = np.random.default_rng(len(expected)).integers(0, len(expected), DRAWN)
    near = change(to_numpy(flat[at]), expected[at], tolerance) <= 1
    return near and change(to_numpy(flat), expected, tolerance) <= 1
