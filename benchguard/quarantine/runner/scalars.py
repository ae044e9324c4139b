"""Numbers that are passed by value: as C has them, and as Python does."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

from ...problem.spec import Scalar
from .failure import SubmissionError

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
    """A ctypes object. Raises SubmissionError for a type that is none."""
    if scalar.ctype in _REAL:
        return _REAL[scalar.ctype](scalar.value)
    if scalar.ctype in _HALF:
        return ctypes.c_uint16(*struct.unpack("<H", struct.pack("<e", scalar.value)))
    if scalar.ctype in _WHOLE:
        return _WHOLE[scalar.ctype](int(scalar.value))
    raise SubmissionError(
        f"the problem's scalar {scalar.name} is of C type {scalar.ctype}, which is not known here"
    )


def python_value(scalar: Scalar) -> int | float | bool:
    """JSON does not tell 2.0 from 2."""
    if scalar.ctype == "bool":
        return bool(scalar.value)
    return int(scalar.value) if scalar.ctype in _WHOLE else float(scalar.value)
