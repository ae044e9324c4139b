"""Read the parameters of a kernel from a problem's declaration."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from .c_types import C_TYPES, CType, from_ctypes
from .errors import ProblemError
from .names import unfit
from .problem import Problem


@dataclass(frozen=True)
class Parameter:
    """A parameter of the kernel. `const` None: unspecified. `on_host`: host functions get it in host memory."""

    name: str
    type: CType
    pointer: bool
    const: bool | None = None
    on_host: bool = False


def parameters_of(problem: Problem, where: str, dtype: str = "") -> tuple[Parameter, ...]:
    """The parameters in the order of the call. `dtype` replaces Tensara's type [VAR]. Raises ProblemError."""
    if problem.parameters:
        parameters = tuple(_declared(each, where, dtype) for each in problem.parameters)
    else:
        parameters = _of_ctypes(problem, where)
    names = [each.name for each in parameters]
    for name in names:
        if unfit(name):
            raise ProblemError(f"{where}: parameter {name!r} {unfit(name)}")
        if names.count(name) > 1:
            raise ProblemError(f"{where}: two parameters are named {name}; give each its own name")
    return parameters


def output_names(problem: Problem, count: int) -> tuple[str, ...]:
    """Default names of outputs that `parameters` lacks."""
    if problem.outputs:
        return tuple(problem.outputs)
    return ("output",) if count == 1 else tuple(f"output{n}" for n in range(count))


def _declared(entry: Mapping[str, Any], where: str, dtype: str) -> Parameter:
    try:
        name, type_name = str(entry["name"]), str(entry["type"])
    except (KeyError, TypeError):
        raise ProblemError(
            f"{where}: the parameter {entry!r} is not {{'name', 'type', 'pointer', 'const'}}; give these keys"
        ) from None
    type_name = (dtype or "float") if type_name == "[VAR]" else type_name
    if type_name not in C_TYPES:
        raise ProblemError(f"{where}: parameter {name} has the type {type_name!r}; give {_TYPES}")
    const = entry.get("const")
    return Parameter(
        name, C_TYPES[type_name], _truth(entry.get("pointer")), None if const is None else _truth(const)
    )


def _truth(value: Any) -> bool:
    """A boolean, which Tensara's front matter has as text."""
    return value is True or str(value).lower() == "true"


def _of_ctypes(problem: Problem, where: str) -> tuple[Parameter, ...]:
    """Parameters of the seed form, which has no names: inputs get the names of the reference's parameters."""
    try:
        argtypes = list(problem.get_function_signature()["argtypes"])
    except NotImplementedError:
        raise ProblemError(
            f"{where}: {type(problem).__name__} has neither parameters nor get_function_signature; "
            "define parameters = [{'name', 'type', 'pointer', 'const'}, ...]"
        ) from None
    except (KeyError, TypeError) as error:
        raise ProblemError(
            f"{where}: get_function_signature must return {{'argtypes': [...], 'restype': None}}"
        ) from error
    types = []
    for place, each in enumerate(argtypes):
        found = from_ctypes(each)
        if found is None:
            raise ProblemError(
                f"{where}: argument {place} of get_function_signature is {each!r}; give a number of ctypes, or a "
                "POINTER to one"
            )
        types.append(found)
    names = _names(problem, [pointer for _, pointer in types])
    return tuple(Parameter(name, *found) for name, found in zip(names, types, strict=True))


def _names(problem: Problem, pointers: Sequence[bool]) -> list[str]:
    inputs = []
    for each in inspect.signature(problem.reference_solution).parameters.values():
        if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD):
            inputs.append(each.name)
    inputs = inputs[: len(pointers)]
    outputs = len(problem.outputs or list(takewhile(bool, pointers[len(inputs) :])))
    extras = len(pointers) - len(inputs) - outputs
    return [*inputs, *output_names(problem, outputs), *(f"extra{n}" for n in range(extras))][: len(pointers)]


_TYPES = "float, double, half, bfloat16, float8_e4m3, int, size_t, uint8_t, ..."
