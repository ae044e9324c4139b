"""sim/hip/calls.toml: which function of CUDA's each function of HIP's is, where only types and names differ."""

from __future__ import annotations

from pathlib import Path

import msgspec

from .errors import CodegenError


class Call(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    to: str
    casts: dict[str, str] = {}
    """For parameters, by name, whose type does not say what CUDA takes."""


class Calls(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    address: str
    """The type of a device address, which CUDA's driver has as a number."""
    types: dict[str, str]
    """HIP's type to CUDA's; pointers to them follow."""
    calls: dict[str, Call | str]

    def call(self, name: str) -> Call:
        row = self.calls[name]
        return Call(row) if isinstance(row, str) else row


def load_calls(path: Path) -> Calls:
    """Raises CodegenError with the first thing that is wrong."""
    try:
        return msgspec.toml.decode(path.read_bytes(), type=Calls)
    except OSError as error:
        raise CodegenError(f"{path}: {error.strerror}") from error
    except msgspec.MsgspecError as error:
        raise CodegenError(f"{path}: {error}") from error
