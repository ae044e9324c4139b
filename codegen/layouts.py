"""semantics/layouts.toml: the contents of the Python modules of the wire formats."""

from __future__ import annotations

from pathlib import Path

import msgspec

from .semantics_file import decode

LAYOUTS = Path(__file__).resolve().parent / "semantics" / "layouts.toml"


class EnumRow(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    name: str
    prefix: str
    """Left out of the members' names."""
    none: str | None = None
    """Set for flags: the constant without any flag, or ""."""


class TraceLayout(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    constants: dict[str, str]
    enums: dict[str, EnumRow]
    parts: dict[str, dict[str, str]]
    """Structures that are read and written in parts: each part's name and its first member."""
    sized: list[str]
    records: list[str]


class ServeLayout(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    constants: dict[str, str]
    enums: dict[str, EnumRow]
    records: list[str]


class CaptureLayout(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    constants: dict[str, str]
    enums: dict[str, EnumRow]
    structures: list[str]
    elements: dict[str, str]
    """The structure of a kind, where its name is not the kind's; "" for none."""
    operations: dict[str, str]
    """The member of the union that an operation of a kind uses."""
    unused: dict[str, list[str]]
    """Members of it that an operation of a kind leaves 0."""
    holds: dict[str, str]
    """The meaning of a number or a span. Spans that are not listed are text."""
    called: dict[str, str]
    reserved: list[str]


class LayoutTable(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    trace: TraceLayout
    serve: ServeLayout
    capture: CaptureLayout


def load_layouts(path: Path = LAYOUTS) -> LayoutTable:
    """Raises CodegenError with the first mistake in the file."""
    return decode(path, LayoutTable)
