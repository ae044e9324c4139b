"""C types of declared parameters, and the corresponding types of CUDA C++, ctypes and arrays."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from .spec import ELEMENT_BYTES, DType

FLOATS: frozenset[DType] = frozenset(
    ("float64", "float32", "float16", "bfloat16", "float8_e4m3", "float8_e5m2")
)


@dataclass(frozen=True)
class CType:
    """A C type. `dtype` is of the array that a pointer to it refers to; `cuda` is its CUDA C++ name, from `header`."""

    name: str
    dtype: DType
    ctype: Any
    cuda: str
    header: str = ""

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS

    def takes(self, dtype: DType) -> bool:
        """Whether an array of `dtype` may be passed for a pointer to this type.

        Signed and unsigned integers of one size are interchangeable, because torch lacked unsigned ones for long.
        Problems also use uint8_t and uint16_t for floats that C has no name for.
        """
        if dtype == self.dtype:
            return True
        if ELEMENT_BYTES[dtype] != ELEMENT_BYTES[self.dtype]:
            return False
        return self.dtype in ("uint8", "uint16") or not ({dtype, self.dtype} & (FLOATS | {"bool"}))


_HALF = ("half", "float16", ctypes.c_uint16, "__half", "cuda_fp16.h")
_BFLOAT = ("bfloat16", "bfloat16", ctypes.c_uint16, "__nv_bfloat16", "cuda_bf16.h")
_E4M3 = ("float8_e4m3", "float8_e4m3", ctypes.c_uint8, "__nv_fp8_e4m3", "cuda_fp8.h")
_E5M2 = ("float8_e5m2", "float8_e5m2", ctypes.c_uint8, "__nv_fp8_e5m2", "cuda_fp8.h")
_DOUBLE = ("double", "float64", ctypes.c_double, "double")
_FLOAT = ("float", "float32", ctypes.c_float, "float")


def _whole(name: str, dtype: DType) -> tuple[Any, ...]:
    return name, dtype, getattr(ctypes, f"c_{dtype}"), name, "" if name in ("int", "size_t") else "cstdint"


_ROWS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("double", "float64"), _DOUBLE),
    **dict.fromkeys(("float", "float32"), _FLOAT),
    **dict.fromkeys(("half", "__half", "float16"), _HALF),
    **dict.fromkeys(("bfloat16", "__nv_bfloat16"), _BFLOAT),
    **dict.fromkeys(("float8", "float8_e4m3", "__nv_fp8_e4m3"), _E4M3),
    **dict.fromkeys(("float8_e5m2", "__nv_fp8_e5m2"), _E5M2),
    "float4": _whole("uint8_t", "uint8"),  # two elements per byte, as in Tensara
    "bool": ("bool", "bool", ctypes.c_bool, "bool"),
    "size_t": _whole("size_t", "uint64"),
    **dict.fromkeys(("int", "int32_t", "int32"), _whole("int", "int32")),
    **dict.fromkeys(("unsigned", "unsigned int"), _whole("uint32_t", "uint32")),
    **dict.fromkeys(("long", "long long"), _whole("int64_t", "int64")),
    "unsigned char": _whole("uint8_t", "uint8"),
}  # fmt: skip
for _bits in (8, 16, 32, 64):
    for _sign in ("int", "uint"):
        for _name in (f"{_sign}{_bits}", f"{_sign}{_bits}_t"):
            _ROWS.setdefault(_name, _whole(f"{_sign}{_bits}_t", f"{_sign}{_bits}"))  # type: ignore[arg-type]

C_TYPES: dict[str, CType] = {name: CType(*row) for name, row in _ROWS.items()}
"""Types by each name that a problem may use. Submissions see the type's `name`."""

_BY_CTYPE = {
    ctypes.c_float: "float", ctypes.c_double: "double", ctypes.c_bool: "bool", ctypes.c_int8: "int8_t",
    ctypes.c_int16: "int16_t", ctypes.c_int32: "int", ctypes.c_int64: "int64_t", ctypes.c_uint8: "uint8_t",
    ctypes.c_uint16: "uint16_t", ctypes.c_uint32: "uint32_t", ctypes.c_uint64: "size_t",
}  # fmt: skip


def from_ctypes(ctype: Any) -> tuple[CType, bool] | None:
    """The type, and whether `ctype` is a pointer to it. None: unknown. ctypes has one class for size_t and uint64_t."""
    if ctype in _BY_CTYPE:
        return C_TYPES[_BY_CTYPE[ctype]], False
    pointed = getattr(ctype, "_type_", None)
    if isinstance(ctype, type) and issubclass(ctype, ctypes._Pointer) and pointed in _BY_CTYPE:
        return C_TYPES[_BY_CTYPE[pointed]], True
    return None


def ctypes_of(type_: CType, pointer: bool) -> Any:
    return ctypes.POINTER(type_.ctype) if pointer else type_.ctype
