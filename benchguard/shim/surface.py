"""Read surface.json, which describes the slots of a shim (docs/formats.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from ..errors import BenchguardError

FORMAT = "neutrino-bench/surface/1"

Api = Literal["cuda", "hip"]


class Parameter(msgspec.Struct, frozen=True):
    """A parameter of a recorded call."""

    name: str
    role: str


class Export(msgspec.Struct, frozen=True):
    """One export of the driver; its slot is its position."""

    name: str
    kind: str
    group: str | None = None
    parameters: tuple[Parameter, ...] = ()
    base: str = ""
    """The documented name, which all forms share: cuMemAlloc of cuMemAlloc_v2."""
    status: bool | None = None
    """Whether it returns a status; None if no header declares it."""


class DriverFacts(msgspec.Struct, frozen=True):
    soname: str
    build_id: str | None
    exports: int


class HeaderFacts(msgspec.Struct, frozen=True):
    version: int
    origin: str


class Surface(msgspec.Struct, frozen=True):
    format: str
    driver: DriverFacts
    header: HeaderFacts
    exports: tuple[Export, ...]
    api: Api = "cuda"

    def count(self, kind: str) -> int:
        """The number of exports of a kind: "recorded", "pass" or "untyped"."""
        return sum(export.kind == kind for export in self.exports)


def read_surface(path: Path) -> Surface:
    """Raises BenchguardError."""
    try:
        surface = msgspec.json.decode(path.read_bytes(), type=Surface)
    except (OSError, msgspec.DecodeError) as error:
        raise BenchguardError(
            f"cannot read {path}: {error}; rebuild the shim with `neutrino-bench build --force`"
        ) from error
    if surface.format != FORMAT:
        raise BenchguardError(
            f"{path} is of format {surface.format!r}, not {FORMAT!r}; "
            "rebuild the shim with `neutrino-bench build --force`"
        )
    return surface
