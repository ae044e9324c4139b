"""A table of a capture, decoded an element at a time, so that a small file cannot fill memory with objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar, overload

from .codec import Data, MalformedError, decode
from .layout import ELEMENTS, Kind

Element = TypeVar("Element")


class SpanData:
    """The bytes that spans refer to: the section NB_CAPTURE_DATA."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw

    def span(self, offset: int, size: int) -> bytes:
        raw = self._raw[offset : offset + size]
        if len(raw) != size:
            raise MalformedError(f"{size} bytes at {offset} of the data, which has {len(self._raw)}")
        return raw


class Table(Sequence[Element], Generic[Element]):
    """The elements of one kind. Elements of an opened capture are well-formed."""

    def __init__(self, kind: Kind, raw: bytes, data: Data) -> None:
        self.kind = kind
        self.raw = raw
        self._data = data
        self._size = ELEMENTS[kind].size

    def __len__(self) -> int:
        return len(self.raw) // self._size

    @overload
    def __getitem__(self, index: int) -> Element: ...
    @overload
    def __getitem__(self, index: slice) -> list[Element]: ...
    def __getitem__(self, index: int | slice) -> Element | list[Element]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"{self.kind.name.lower()} {index} of {len(self)}")
        return self._decode(index % len(self))

    def __iter__(self) -> Iterator[Element]:
        return map(self._decode, range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(_equal, self, other))

    def __hash__(self) -> int:
        return hash((self.kind, len(self)))

    def __repr__(self) -> str:
        return f"<{len(self)} of {self.kind.name.lower()}>"

    def _decode(self, index: int) -> Element:
        element: Element = decode(self.kind, self.raw, index * self._size, self._data)
        return element


def _equal(one: object, other: object) -> bool:
    return one == other
