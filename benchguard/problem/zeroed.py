"""Outputs that begin each call with zeros, so that submissions may add to them (Problem.zero_outputs)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from .arrays import NUMPY_DTYPES, Numbers
from .spec import Argument, Buffer


def with_zeros(
    arguments: Sequence[Argument], rejects: Callable[[Sequence[Buffer]], bool]
) -> tuple[Argument, ...]:
    """The arguments, with outputs of the role "inout" if `rejects` says that untouched outputs are wrong.

    Otherwise the outputs keep their role and begin with noise: a submission that writes nothing must never be right.
    """
    if not rejects([each for each in arguments if isinstance(each, Buffer) and each.is_checked]):
        return tuple(arguments)
    return tuple(
        msgspec.structs.replace(each, role="inout")
        if isinstance(each, Buffer) and each.role == "output"
        else each
        for each in arguments
    )


def zeros_of(buffer: Buffer) -> Numbers:
    return np.zeros(buffer.shape, NUMPY_DTYPES[buffer.dtype])
