"""Match a problem's declared parameters with the inputs of a test case, to get the arguments of the call."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from .arrays import NUMPY_DTYPES, dtype_of, is_array, shape_of, strides_of
from .errors import ProblemError
from .on_cpu import lies_on_host
from .problem import Problem
from .signature import Parameter
from .spec import Argument, Buffer, DType, Role, Scalar

Output = tuple[tuple[int, ...], "DType | None"]
"""Shape of an output, and its dtype if known."""


def arguments_of(
    problem: Problem,
    where: str,
    parameters: Sequence[Parameter],
    inputs: Sequence[Any],
    outputs: Sequence[Output],
    extras: Sequence[Any],
) -> tuple[Argument, ...]:
    """The arguments in the order of the call. Raises ProblemError for declarations and inputs that do not match."""
    _check_names(problem, where, [p.name for p in parameters[: len(inputs)]])
    count = len(inputs) + len(outputs) + len(extras)
    if count != len(parameters):
        raise ProblemError(
            f"{where}: the kernel has {len(parameters)} parameters ({', '.join(p.name for p in parameters)}), but "
            f"{len(inputs)} inputs, {len(outputs)} outputs and {len(extras)} extra parameters are {count}; "
            "create_inputs, reference_solution, get_extra_params and the signature have to agree"
        )
    first_output, first_extra = len(inputs), len(inputs) + len(outputs)
    output_names = tuple(p.name for p in parameters[first_output:first_extra])
    if problem.outputs and tuple(problem.outputs) != output_names:
        raise ProblemError(
            f"{where}: outputs = {list(problem.outputs)}, but the parameters after the inputs are "
            f"{list(output_names)}; give the same names in the same order"
        )
    arguments: list[Argument] = []
    for place, (parameter, value) in enumerate(zip(parameters[:first_output], inputs, strict=True)):
        role: Role = "input"
        if parameter.name in problem.inplace:
            role = "inout"
        elif parameter.name in problem.constants:
            role = "constant"
        arguments.append(_input_argument(parameter, value, role, f"{where}: input {place}"))
    for parameter, output in zip(parameters[first_output:first_extra], outputs, strict=True):
        arguments.append(_output(parameter, output, where))
    for place, (parameter, value) in enumerate(zip(parameters[first_extra:], extras, strict=True)):
        extra = _input_argument(parameter, value, "constant", f"{where}: extra parameter {place}")
        if isinstance(extra, Buffer) and lies_on_host(value):
            extra = replace(extra, on_host=True)
        arguments.append(extra)
    return tuple(arguments)


def _check_names(problem: Problem, where: str, inputs: Sequence[str]) -> None:
    for attribute in ("inplace", "constants"):
        for name in getattr(problem, attribute):
            if name not in inputs:
                raise ProblemError(
                    f"{where}: {attribute} names {name!r}, which is not an input; inputs are {', '.join(inputs)}"
                )
    both = set(problem.inplace) & set(problem.constants)
    if both:
        raise ProblemError(f"{where}: {both.pop()!r} is both in place and constant; remove it from one")


def _input_argument(parameter: Parameter, value: Any, role: Role, what: str) -> Argument:
    name = f"{what}, {parameter.name},"
    if not parameter.pointer:
        return Scalar(parameter.name, parameter.type.name, _number(parameter, value, name))
    if not is_array(value):
        raise ProblemError(
            f"{name} is a {type(value).__name__}, its parameter a {parameter.type.name}*; "
            "give an array of numpy or torch"
        )
    dtype = _dtype(parameter, value, name)
    if role == "inout" and parameter.const:
        raise ProblemError(f"{name} is in place, but its parameter is const; say const: False")
    shape, strides = shape_of(value), strides_of(value)
    return Buffer(parameter.name, dtype, shape, role, strides)


def _dtype(parameter: Parameter, value: Any, name: str) -> DType:
    try:
        dtype = dtype_of(value)
    except TypeError as error:
        raise ProblemError(f"{name} is {error}") from None
    if not parameter.type.takes(dtype):
        raise ProblemError(
            f"{name} is an array of {dtype}, its parameter a {parameter.type.name}*; make them agree"
        )
    return dtype


def _output(parameter: Parameter, output: Output, where: str) -> Buffer:
    shape, dtype = output
    name = f"{where}: output {parameter.name}"
    if not parameter.pointer:
        raise ProblemError(f"{name} is an array, but its parameter is not a pointer; declare pointer: True")
    if parameter.const:
        raise ProblemError(f"{name} is const; say const: False")
    # The reference's dtype is more exact than C's (int64 for uint64_t), but is used only if the sizes agree.
    agreed = dtype if dtype is not None and parameter.type.takes(dtype) else parameter.type.dtype
    return Buffer(parameter.name, agreed, shape, "output")


def _number(parameter: Parameter, value: Any, name: str) -> int | float:
    if is_array(value) and math.prod(shape_of(value)) == 1:
        value = value.item()
    if not isinstance(value, (int, float)):
        raise ProblemError(
            f"{name} is a {type(value).__name__}, its parameter a {parameter.type.name}; give a number"
        )
    if parameter.type.is_float:
        return float(
            NUMPY_DTYPES[parameter.type.dtype].type(value)
        )  # rounded, so that the reference gets the same value as the kernel
    if value != int(value):
        raise ProblemError(f"{name} is {value}, its parameter a {parameter.type.name}; give a whole number")
    return int(value)
