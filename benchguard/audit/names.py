"""Names of results, enums and arguments: what a log's numbers mean. names.json is generated from the vendors' headers.

Regenerate: python -m benchguard.codegen names
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

import msgspec

OUT = "out:"
SUCCESS = 0
NOT_READY = 600
"""The answer of cuStreamQuery, cuEventQuery and HIP's queries that work is not done yet: no failure."""

_VARIANT = re.compile(r"(?:_v\d+|R\d{4})?(?:_ptds|_ptsz|_spt)?$")
_DECIMAL = {"bytes", "count", "grid", "block", "device", "unsigned"}
_STREAMS = {0: "default", 1: "legacy", 2: "per-thread"}


class ApiNames(msgspec.Struct, frozen=True):
    """The names of one vendor's API. `calls` has the roles of arguments by the name of the documentation."""

    version: int
    errors: dict[int, str]
    enums: dict[str, dict[int, str]]
    calls: dict[str, dict[str, str]]


class _File(msgspec.Struct, frozen=True):
    format: str
    cuda: ApiNames
    hip: ApiNames


@cache
def names_of(api: str) -> ApiNames:
    """The names of "cuda" or "hip"."""
    file = msgspec.json.decode(Path(__file__).with_name("names.json").read_bytes(), type=_File)
    return file.hip if api == "hip" else file.cuda


def error_name(api: str, result: int) -> str:
    """The vendor's name of a call's result."""
    return names_of(api).errors.get(result, f"error {result}")


@lru_cache(maxsize=4096)
def plain_name(call: str) -> str:
    """The name of the documentation: cuMemAlloc of cuMemAlloc_v2 and of cuMemAlloc_v2_ptds."""
    return _VARIANT.sub("", call)


def is_failure(call: str, result: int) -> bool:
    """Whether a result is an error. The answer "not ready" of a query is not an error."""
    return result not in (SUCCESS, NOT_READY) or (
        result == NOT_READY and not plain_name(call).endswith("Query")
    )


def describe_arguments(api: str, call: str, arguments: Mapping[str, int]) -> tuple[list[str], list[str]]:
    """NAME=VALUE for what the call was given, and for what it gave back."""
    names = names_of(api)
    roles = names.calls.get(plain_name(call), {})
    given: list[str] = []
    returned: list[str] = []
    for name, value in arguments.items():
        role = roles.get(name, "pointer")
        target = returned if role.startswith(OUT) else given
        target.append(f"{name}={_value(names, role.removeprefix(OUT), value)}")
    return given, returned


def describe_stream(handle: int) -> str:
    """A stream's handle, or the name of a stream that has no handle."""
    return _STREAMS.get(handle, hex(handle))


def _value(names: ApiNames, role: str, value: int) -> str:
    kind, _, enum = role.partition(":")
    if kind in _DECIMAL:
        return str(value)
    if kind == "stream":
        return describe_stream(value)
    if kind in {"int", "enum"}:
        signed = value - (1 << 64) if value >> 63 else value
        return names.enums.get(enum, {}).get(signed, str(signed))
    if kind in ("float", "double") and 0 <= value < 1 << 64:
        number = struct.unpack("<d", value.to_bytes(8, "little"))[0]
        if kind == "float":
            number = struct.unpack("<f", (value & 0xFFFFFFFF).to_bytes(4, "little"))[0]
        return f"{number:g}"
    return hex(value)
