"""Convert a task's values, numbers and tensors, to arguments of a case."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from ..problem.arrays import Array, dtype_of, is_array, shape_of, strides_of
from ..problem.errors import ProblemError
from ..problem.spec import NO_SEED, Argument, Buffer, Role, Scalar
from ..problem.tolerances import tolerance_of

__all__ = [
    "NO_SEED",
    "argument_of",
    "described",
    "drawing_notes",
    "same_memory",
    "seed_notes",
    "tolerance_of",
]

_INT_MAX = 2**31 - 1

FEW_BYTES = 64
"""Inputs of up to this many bytes (lengths, flags) may be equal for all seeds without a note."""

DRAWS = frozenset(
    {"bernoulli", "manual_seed", "multinomial", "normal", "rand", "randint", "randn", "randperm"}
    | {"rand_like", "randint_like", "randn_like"}
)
"""torch's functions that draw random numbers."""


def seed_notes(inputs: Sequence[Buffer], unseeded: Collection[str]) -> tuple[str, ...]:
    """A note about inputs that are equal for all seeds, if there are any: about all of them, or about large ones."""
    if all(each.name in unseeded for each in inputs):
        return (NO_SEED,)
    same = [each.name for each in inputs if each.name in unseeded and each.bytes > FEW_BYTES]
    if not same:
        return ()
    verb = "is" if len(same) == 1 else "are"
    return (
        f"{', '.join(same)} {verb} equal for all seeds: a submission need not read that, and may keep numbers that it "
        "computed from it",
    )


def drawing_notes(reference: Callable[..., Any]) -> tuple[str, ...]:
    """A note about a reference that draws random numbers, as LeetGPU's top-p sampling does. Its own code is searched,
    not the functions that it calls."""
    names = sorted(DRAWS.intersection(getattr(getattr(reference, "__code__", None), "co_names", ())))
    if not names:
        return ()
    return (
        f"the reference draws random numbers ({', '.join(names)}): another program draws other ones, so "
        "its right answer may be called wrong",
    )


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
