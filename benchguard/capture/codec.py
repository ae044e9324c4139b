"""Between the bytes of a table and the dataclasses of benchguard.capture.model, by the layouts alone."""

from __future__ import annotations

import enum
from collections.abc import Callable
from functools import cache
from struct import Struct
from typing import Any, Protocol, get_args

from . import model
from .errors import CaptureError
from .fields import Field, Holds, Layout
from .layout import ELEMENTS, OPERATIONS, Kind, OperationKind

TEXT_MAX = 16384

MODELS: dict[Layout, type] = {}
for _kind, _layout in ELEMENTS.items():
    if _kind is not Kind.OPERATION:
        _name = "Run" if _kind in {Kind.BEFORE, Kind.AFTER} else _kind.name.capitalize()
        MODELS[_layout] = getattr(model, _name)

OPERATION_MODELS: dict[OperationKind, type] = {each.kind: each for each in get_args(model.Operation)}
PARTS: dict[str, type] = {
    "parameter": model.Parameter,
    "attribute": model.Attribute,
    "capture_option": model.Option,
    "capture_setting": model.Setting,
}


class MalformedError(CaptureError):
    """A fault in a capture's bytes. Callers that know the file name it in another CaptureError."""


class Data(Protocol):
    """The bytes that spans refer to."""

    def span(self, offset: int, size: int) -> bytes: ...


def decode(kind: Kind, raw: bytes | memoryview, at: int, data: Data) -> Any:
    """The element of a table of `kind` that begins at `at`. Raises MalformedError."""
    if kind is Kind.OPERATION:
        number = int.from_bytes(raw[at : at + 4], "little")
        operation = chosen(OperationKind, number, "kind")
        return _decode(OPERATIONS[operation], OPERATION_MODELS[operation], raw, at, data, skip="kind")
    layout = ELEMENTS[kind]
    return _decode(layout, MODELS[layout], raw, at, data)


def encode(kind: Kind, element: Any, intern: Callable[[bytes], tuple[int, int]]) -> bytes:
    """`intern` puts a span's bytes somewhere and says where: offset and size."""
    layout = OPERATIONS[element.kind] if kind is Kind.OPERATION else ELEMENTS[kind]
    return _encode(layout, element, intern)


def operation_layout(raw: bytes | memoryview, at: int = 0) -> Layout:
    """The layout of the operation that begins at `at`. Raises MalformedError."""
    return OPERATIONS[chosen(OperationKind, int.from_bytes(raw[at : at + 4], "little"), "kind")]


def chosen(choice: type[enum.IntEnum] | type[enum.IntFlag], value: int, name: str) -> Any:
    """A member of `choice`, or a sum of its flags."""
    members = _members(choice)
    if value not in members:
        raise MalformedError(f"unknown {name} {value:#x}")
    return members[value]


@cache
def _members(choice: type[enum.IntEnum] | type[enum.IntFlag]) -> dict[int, Any]:
    """Members by number; for flags, every combination."""
    if not issubclass(choice, enum.IntFlag):
        return {int(member): member for member in choice}
    sums = {0: choice(0)}
    for member in choice:
        sums |= {known | int(member): choice(known | int(member)) for known in sums}
    return sums


Reader = Callable[[tuple[Any, ...], Data | None], Any]


def _decode(
    layout: Layout, kind: type, raw: bytes | memoryview, at: int, data: Data | None, skip: str = ""
) -> Any:
    values = layout.struct.unpack_from(raw, at)
    return kind(**{name: read(values, data) for name, read in _readers(layout, skip)})


@cache
def _readers(layout: Layout, skip: str) -> tuple[tuple[str, Reader], ...]:
    """How each field comes of the struct's values: found out once, since elements are many."""
    readers = []
    place = 0
    for field in layout.fields:
        end = place + field.values
        if not field.reserved and field.attribute != skip:
            readers.append((field.attribute, _reader(field, place, end)))
        place = end
    return tuple(readers)


def _reader(field: Field, at: int, end: int) -> Reader:
    choice = field.choice
    if field.content:
        return lambda values, _: (
            model.Content(values[at], values[at + 1]) if values[at + 1] else model.NO_CONTENT
        )
    if field.span is not None:
        return lambda values, data: _from_span(field, values[at], values[at + 1], data)
    if choice is not None:
        return lambda values, _: chosen(choice, values[at], field.attribute)
    if field.code in {"16s", "32s"}:
        return lambda values, _: values[at].hex()
    return (lambda values, _: values[at]) if end == at + 1 else (lambda values, _: values[at:end])


def _from_span(field: Field, offset: int, size: int, data: Data | None) -> Any:
    assert data is not None
    raw = data.span(offset, size)
    if field.span is Holds.TEXT:
        return raw.decode(errors="replace")
    if field.span is Holds.BYTES:
        return raw
    element = 8 if field.span is Holds.WORDS else field.span.size  # type: ignore[union-attr]
    if size % element:
        raise MalformedError(f"{field.attribute} of {size} bytes; whole elements have {element}")
    if isinstance(field.span, Layout):
        kind = PARTS[field.span.name]
        return tuple(_decode(field.span, kind, raw, at, None) for at in range(0, size, element))
    return Struct(f"<{size // element}Q").unpack(raw)


def _encode(layout: Layout, element: Any, intern: Callable[[bytes], tuple[int, int]]) -> bytes:
    values: list[Any] = []
    for field in layout.fields:
        if field.reserved:
            values += [b"" if field.code.endswith("s") else 0] * field.values
            continue
        value = getattr(element, field.attribute)
        if field.content:
            values += [value.first, value.bytes]
        elif field.span is not None:
            values += intern(_to_span(field, value))
        elif field.code in {"16s", "32s"}:
            values.append(bytes.fromhex(value))
        elif isinstance(value, tuple):
            values += value
        else:
            values.append(value)
    return layout.struct.pack(*values)


def _to_span(field: Field, value: Any) -> bytes:
    if field.span is Holds.TEXT:
        return str(value).encode(errors="replace")[:TEXT_MAX]
    if field.span is Holds.BYTES:
        return bytes(value)
    if isinstance(field.span, Layout):
        return b"".join(_encode(field.span, part, _no_span) for part in value)
    return Struct(f"<{len(value)}Q").pack(*value)


def _no_span(_: bytes) -> tuple[int, int]:
    raise AssertionError("parts of arrays have no spans")
