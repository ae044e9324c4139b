"""The structure of the TOML files in codegen/semantics. semantics.py has their meaning."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from .errors import CodegenError

ROLES = Path(__file__).resolve().parent / "semantics" / "roles.toml"
T = TypeVar("T")


class Since(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A name that headers before `since` (a CUDA_VERSION or HIP_VERSION) do not have."""

    name: str
    since: int


Names = list[str | Since]


class _Roles(msgspec.Struct, forbid_unknown_fields=True):
    roles: dict[str, str]


class _Functions(msgspec.Struct, forbid_unknown_fields=True):
    functions: Names


class _Header(msgspec.Struct, forbid_unknown_fields=True):
    release: str


class SemanticsFile(msgspec.Struct, forbid_unknown_fields=True):
    types: dict[str, str]
    names: dict[str, str]
    parameters: dict[str, str]
    groups: dict[str, Names]
    post: dict[str, Names]
    wrap: dict[str, Names]
    wrap_when_recording: dict[str, Names]
    refused: dict[str, list[str]]
    tracking: list[str] = []
    """Hooks in `wrap_when_recording` that also run while kernels are probed."""
    operations: dict[str, list[str]] = {}
    """The C call that records an operation, and the hooks in `wrap_when_recording` that are generated to make it."""
    roles: dict[str, str] = {}
    header: _Header | None = None
    """The release that has all names. None: every release. Other releases may lack names."""
    translated: _Functions | None = None
    queries: _Functions | None = None
    """Functions that only ask: consecutive equal calls of one thread become one record with a count."""


def common_roles() -> dict[str, str]:
    """Every vendor's roles. Raises CodegenError."""
    return decode(ROLES, _Roles).roles


def decode(path: Path, kind: type[T]) -> T:
    """Raises CodegenError with the first thing that is wrong."""
    try:
        return msgspec.toml.decode(path.read_bytes(), type=kind)
    except OSError as error:
        raise CodegenError(f"{path}: {error.strerror}") from error
    except msgspec.MsgspecError as error:
        raise CodegenError(f"{path}: {error}") from error
