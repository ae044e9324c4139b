"""The interface of a submission's entry, and the arguments that it is called with."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any, Protocol

from ...problem.spec import Argument, Buffer, CaseSpec, Scalar
from ..contract import Convention
from .memory import CaseMemory
from .reporting import SubmissionError

Call = Callable[[], object]
"""Queues or does the work of one call. A return value other than None is the outputs."""


class Entry(Protocol):
    def bind(self, case: CaseSpec, memory: CaseMemory, init: tuple[Any, ...], /) -> Call:
        """Prepare everything that a call needs, so that the call itself does only the work. Raises SubmissionError.

        `init` are the arguments of a module's constructor.
        """
        ...


def ordered(case: CaseSpec, convention: Convention) -> tuple[Argument, ...]:
    """A case's arguments in the order of the convention.

    The caller packs those of `tuple` in one tuple. For `data` they are those of a function in CUDA C++: the values of
    data, then outputs for results that have no memory in data.
    """
    outputs = tuple(each for each in case.arguments if _is_output(each))
    others = tuple(each for each in case.arguments if not _is_output(each))
    if convention == "output_first":
        return outputs + others
    if convention == "tuple":
        return others + outputs
    if convention == "data" and case.returns is not None:
        own = {form.buffer for form in case.returns.results}
        return others + tuple(each for each in outputs if each.name in own)
    if convention in ("module", "module_keywords"):
        return tuple(each for each in others if not _is_constant(each))
    return case.arguments


def constants(case: CaseSpec) -> tuple[Buffer, ...]:
    return tuple(each for each in case.buffers if each.role == "constant")


def _is_output(argument: Argument) -> bool:
    return isinstance(argument, Buffer) and argument.role == "output"


def _is_constant(argument: Argument) -> bool:
    return isinstance(argument, Buffer) and argument.role == "constant"


_REAL = {
    "float": ctypes.c_float,
    "float32": ctypes.c_float,
    "double": ctypes.c_double,
    "float64": ctypes.c_double,
}
_HALF = {"half", "float16", "__half"}
_WHOLE: dict[str, Any] = {
    "char": ctypes.c_byte, "short": ctypes.c_short, "int": ctypes.c_int, "long": ctypes.c_long,
    "unsigned": ctypes.c_uint, "size_t": ctypes.c_size_t, "ssize_t": ctypes.c_ssize_t, "bool": ctypes.c_bool,
    **{
        f"{sign}int{bits}{suffix}": getattr(ctypes, f"c_{sign}int{bits}")
        for sign in ("", "u") for bits in (8, 16, 32, 64) for suffix in ("", "_t")
    },
}  # fmt: skip


def c_value(scalar: Scalar) -> Any:
    """The scalar as a ctypes object. Raises SubmissionError for an unknown C type."""
    if scalar.ctype in _REAL:
        return _REAL[scalar.ctype](scalar.value)
    if scalar.ctype in _HALF:
        return ctypes.c_uint16(*struct.unpack("<H", struct.pack("<e", scalar.value)))
    if scalar.ctype in _WHOLE:
        return _WHOLE[scalar.ctype](int(scalar.value))
    raise SubmissionError(f"the problem's scalar {scalar.name} has the unknown C type {scalar.ctype}")


def python_value(scalar: Scalar) -> int | float | bool:
    """The scalar as a Python number of its C type: JSON does not distinguish 2.0 from 2."""
    if scalar.ctype == "bool":
        return bool(scalar.value)
    return int(scalar.value) if scalar.ctype in _WHOLE else float(scalar.value)
