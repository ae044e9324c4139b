"""The declarations of a C header, as plain values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from .vendor import Vendor

_VARIANT = re.compile(r"^(?P<base>\w+?)(?:_v(?P<abi>\d+)|R(?P<release>\d{4}))?(?P<thread>_ptds|_ptsz|_spt)?$")
THREAD_SUFFIXES = ("_ptsz", "_ptds", "_spt")
"""Forms for a program that was compiled with a default stream a thread; the last is HIP's."""


class Shape(Enum):
    """How a value of a type is laid out, as far as a trace record needs it."""

    VOID = "void"
    INTEGER = "integer"
    ENUM = "enum"
    FLOAT = "float"
    DOUBLE = "double"
    POINTER = "pointer"
    FUNCTION_POINTER = "function pointer"
    AGGREGATE = "struct or union"


@dataclass(frozen=True)
class CType:
    """A C type.

    `spellings` are its names from the header's own to the most basic, one typedef resolved at a time,
    without qualifiers of the value itself: ("CUdeviceptr", "CUdeviceptr_v2", "unsigned long long int").
    `canonical` is the last of them with every qualifier and every typedef inside it resolved: types
    that are equal there are passed alike.
    """

    spellings: tuple[str, ...]
    canonical: str
    shape: Shape
    pointee: CType | None = None
    pointee_const: bool = False


@dataclass(frozen=True)
class Parameter:
    name: str
    declaration: str
    type: CType


@dataclass(frozen=True)
class Function:
    """One real, linkable function of the header."""

    name: str
    section: str
    returns: CType
    parameters: tuple[Parameter, ...]
    variadic: bool = False
    result: str = "int"
    """The return type as the header writes it, qualifiers and all."""

    @property
    def has_status(self) -> bool:
        """Whether it returns a status; 0 is success for both vendors."""
        return self.returns.shape in (Shape.ENUM, Shape.INTEGER)

    @cached_property
    def base(self) -> str:
        """The documented name, without `_v2`, `R0600`, `_ptsz` and `_spt`."""
        return split_variant(self.name)[0]

    @property
    def signature(self) -> str:
        """Return and parameter types as they are passed; names and qualifiers do not count."""
        types = ", ".join(parameter.type.canonical for parameter in self.parameters)
        return f"{self.returns.canonical}({types}{', ...' if self.variadic else ''})"


@dataclass(frozen=True)
class EntryPoint:
    """A row of cuGetProcAddress: the symbol for a base name from a version on."""

    base: str
    version: int
    per_thread: bool
    symbol: str


@dataclass(frozen=True)
class Api:
    """A header: its functions in header order."""

    vendor: Vendor
    version: int
    functions: tuple[Function, ...]
    source_names: Mapping[str, str]
    """The symbol that a call in plain C links to: cuMemAlloc -> cuMemAlloc_v2."""
    entry_points: tuple[EntryPoint, ...]
    enums: Mapping[str, Mapping[str, int]]
    """Numbers of enumerators by typedef (CUresult) and by tag (enum cudaError_enum)."""

    @property
    def release(self) -> str:
        return self.vendor.release(self.version)

    @cached_property
    def by_name(self) -> Mapping[str, Function]:
        return {function.name: function for function in self.functions}

    @cached_property
    def bases(self) -> frozenset[str]:
        return frozenset(function.base for function in self.functions)


def split_variant(name: str) -> tuple[str, int, str]:
    """Base name, ABI number (1 where none is written) and per-thread suffix ("" for none).

    HIP names an ABI by the release that changed a structure: hipGetDevicePropertiesR0600.
    """
    match = _VARIANT.match(name)
    if match is None:
        return name, 1, ""
    return match["base"], int(match["abi"] or match["release"] or 1), match["thread"] or ""
