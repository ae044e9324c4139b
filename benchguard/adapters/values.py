"""Convert a task's values, numbers and tensors, to arguments of a case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..problem.arrays import Array, dtype_of, is_array, shape_of, strides_of
from ..problem.errors import ProblemError
from ..problem.spec import NO_SEED, Argument, Buffer, Role, Scalar
from ..problem.tolerances import tolerance_of

__all__ = ["NO_SEED", "argument_of", "described", "same_memory", "tolerance_of"]

_INT_MAX = 2**31 - 1


def argument_of(name: str, value: Any, role: Role, where: str) -> Argument:
    """The value as an argument. Raises ProblemError for values that no kernel takes."""
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
            raise ProblemError(f"{where}: {name} is {value}, which does not fit in 64 bits")
        return Scalar(name, "int" if -_INT_MAX <= value <= _INT_MAX else "int64_t", value)
    if isinstance(value, float):
        return Scalar(name, "double", value)
    raise ProblemError(
        f"{where}: {name} is a {type(value).__name__}; a gradable case has only tensors and numbers, in one flat "
        "tuple or list"
    )


def described(values: Sequence[Any]) -> list[str]:
    """The properties of values that must not depend on the seed."""
    return [f"{dtype_of(each)}{list(shape_of(each))}" if is_array(each) else repr(each) for each in values]


def same_memory(one: Array, other: Array) -> bool:
    """Whether two tensors begin at the same address."""
    return bool(one.numel() and one.data_ptr() == other.data_ptr() and one.shape == other.shape)
