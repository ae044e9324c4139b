"""How a kernel that has no host code is launched: by a comment in its first lines.

// launch: grid=(ceil(n/256), 1, 1) block=256 shared=0
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from ...problem.spec import Buffer, CaseSpec
from .expression import ExpressionError, evaluate
from .failure import SubmissionError

THREADS = 256
_KEY = re.compile(r"\b(grid|block|shared)\s*=(?!=)")
_EXTENT_MAX = (1 << 31) - 1

Extents = tuple[int, int, int]


@dataclass(frozen=True)
class LaunchShape:
    grid: Extents
    block: Extents
    shared: int
    """Dynamic shared memory in bytes."""


def shape_of(directive: str | None, case: CaseSpec) -> LaunchShape:
    """For this case. What is not said: 256 threads a block, one for each element of the first output.

    Raises SubmissionError.
    """
    said = _said(directive or "")
    names: dict[str, Buffer | int | float] = {
        each.name: each if isinstance(each, Buffer) else each.value for each in case.arguments
    }
    block = _extents("block", said.get("block", str(THREADS)), names)
    if "grid" in said:
        grid = _extents("grid", said["grid"], names)
    else:
        elements = next((math.prod(each.shape) for each in case.checked), 1)
        grid = (max(1, -(-elements // math.prod(block))), 1, 1)
    shared = _extents("shared", said.get("shared", "0"), names, least=0)
    if shared[1:] != (1, 1):
        raise SubmissionError(f"`// launch: shared={said['shared']}` has three values; give one, in bytes")
    return LaunchShape(grid, block, shared[0])


def _said(directive: str) -> dict[str, str]:
    before, *pieces = _KEY.split(directive)
    said = dict(zip(pieces[::2], (each.strip().rstrip(",;").strip() for each in pieces[1::2]), strict=True))
    if before.strip() or (directive.strip() and len(said) != len(pieces) // 2):
        raise SubmissionError(
            f"`// launch:{directive}` cannot be read; write grid=(ceil(n/256), 1, 1) block=256 shared=0"
        )
    return said


def _extents(key: str, text: str, names: Mapping[str, Buffer | int | float], least: int = 1) -> Extents:
    try:
        value = evaluate(text, names)
    except ExpressionError as error:
        raise SubmissionError(f"`// launch: {key}={text}`: {error}") from error
    extents = value if isinstance(value, tuple) else (value,)
    if not 1 <= len(extents) <= 3 or not all(least <= each <= _EXTENT_MAX for each in extents):
        raise SubmissionError(f"`// launch: {key}={text}` is {value}, which no launch can have")
    x, y, z = (*extents, 1, 1)[:3]
    return x, y, z
