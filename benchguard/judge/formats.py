"""Store, decode and round numbers of each dtype.

Decoding to float64 is exact, because all dtypes have at most 64 bits. bfloat16 is the upper half of a float32. float8
is defined by Micikevicius et al. (https://arxiv.org/abs/2209.05433) and implemented by ml_dtypes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..problem.arrays import NUMPY_DTYPES
from ..problem.spec import ELEMENT_BYTES, DType

Array = NDArray[Any]
Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class FloatFormat:
    """`digits` is the significand's size in bits with the hidden bit; 2**`lowest` is the smallest normal number."""

    digits: int
    lowest: int
    largest: float
    infinities: bool = True

    @property
    def smallest_normal(self) -> float:
        return 2.0**self.lowest


FLOATS: dict[DType, FloatFormat] = {
    "float64": FloatFormat(53, -1022, float(np.finfo(np.float64).max)),
    "float32": FloatFormat(24, -126, float(np.finfo(np.float32).max)),
    "float16": FloatFormat(11, -14, 65504.0),
    "bfloat16": FloatFormat(8, -126, float.fromhex("0x1.fep127")),
    "float8_e4m3": FloatFormat(4, -6, 448.0, infinities=False),
    "float8_e5m2": FloatFormat(3, -14, 57344.0),
}

_NOT_NUMPY_S: frozenset[DType] = frozenset({"bfloat16", "float8_e4m3", "float8_e5m2"})


def numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """numpy's dtype for a problem's arrays."""
    return NUMPY_DTYPES[dtype]


def stored_dtype(dtype: DType) -> np.dtype[Any]:
    """The dtype of stored elements: bits for dtypes that numpy lacks, and for bool, whose bytes may be invalid."""
    if dtype in _NOT_NUMPY_S or dtype == "bool":
        return np.dtype(f"u{ELEMENT_BYTES[dtype]}")
    return numpy_dtype(dtype)


def is_float(dtype: DType) -> bool:
    return dtype in FLOATS


def decode(dtype: DType, stored: Array, out: Doubles) -> None:
    """Decode the stored bits of a float dtype. ml_dtypes' own conversion would hold the GIL."""
    if dtype == "bfloat16":
        wide = np.left_shift(stored, 16, dtype=np.uint32)
        np.copyto(out, wide.view(np.float32))
    elif dtype in {"float8_e4m3", "float8_e5m2"}:
        np.take(_values_of_bytes(dtype), stored, out=out, mode="clip")
    else:
        np.copyto(out, stored)


def decoded(dtype: DType, stored: Array) -> Doubles:
    out = np.empty(stored.shape, np.float64)
    with np.errstate(invalid="ignore"):  # a signalling NaN
        decode(dtype, stored, out)
    return out


def rounded(values: Doubles, form: FloatFormat) -> Doubles:
    """Round to nearest, ties to even, with an unlimited exponent: results over `form.largest` have overflowed.

    Numbers are scaled so that a unit in the last place is 1, which is exact, and rounded with rint.
    """
    if form.digits >= 53:
        return values
    _, exponents = np.frexp(values)
    places = np.maximum(exponents - form.digits, form.lowest - (form.digits - 1))
    with np.errstate(over="ignore"):
        return np.asarray(np.ldexp(np.rint(np.ldexp(values, -places)), places), np.float64)


@lru_cache(maxsize=2)
def _values_of_bytes(dtype: DType) -> Doubles:
    table: Doubles = np.arange(256, dtype=np.uint8).view(NUMPY_DTYPES[dtype]).astype(np.float64)
    table.setflags(write=False)
    return table
