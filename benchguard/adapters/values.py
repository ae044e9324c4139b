"""A task's values, numbers and tensors, as arguments of a case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..problem.arrays import Array, dtype_of, is_array, shape_of, strides_of
from ..problem.errors import ProblemError
from ..problem.spec import Argument, Buffer, Role, Scalar
from ..problem.tolerances import tolerance_of

__all__ = ["argument_of", "described", "tolerance_of"]

_INT_MAX = 2**31 - 1


def argument_of(name: str, value: Any, role: Role, where: str) -> Argument:
    """Raises ProblemError for what can be given to no kernel."""
    if is_array(value):
        try:
            dtype = dtype_of(value)
        except TypeError as error:
            raise ProblemError(f"{where}: {name} is {error}") from error
        strides = None if role == "output" else strides_of(value)
        return Buffer(name, dtype, shape_of(value), role, strides)
    if isinstance(value, bool):
        return Scalar(name, "bool", int(value))
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise ProblemError(f"{where}: {name} is {value}, which no 64 bits hold")
        return Scalar(name, "int" if -_INT_MAX <= value <= _INT_MAX else "int64_t", value)
    if isinstance(value, float):
        return Scalar(name, "double", value)
    raise ProblemError(
        f"{where}: {name} is a {type(value).__name__}; a case that can be graded has tensors and numbers alone, side "
        "by side in one tuple or list"
    )


def described(values: Sequence[Any]) -> list[str]:
    """What has to be the same for every seed."""
    return [f"{dtype_of(each)}{list(shape_of(each))}" if is_array(each) else repr(each) for each in values]


def same_memory(one: Array, other: Array) -> bool:
    """Of tensors: whether they begin at one address."""
    return bool(one.numel() and one.data_ptr() == other.data_ptr() and one.shape == other.shape)
