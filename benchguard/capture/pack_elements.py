"""A raw capture's elements as a capture's: spans moved, contents made blobs, what a raw capture says twice merged.

They are gathered first and written then, because memory that an operation names may come later in the raw capture.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import Any

from .codec import TEXT_MAX, MalformedError
from .fields import Field, Holds, Layout
from .layout import BLOB_MAX, ELEMENTS, AllocationFlag, Kind, OperationKind, RefusalFlag
from .model import NO_CONTENT, Content
from .raw_capture import Element, Place, RawCapture
from .writer import CaptureWriter

# Operations that neither change memory nor run a kernel.
ORDERING = (OperationKind.EVENT_RECORD, OperationKind.EVENT_WAIT, OperationKind.SYNCHRONIZE)
# Operations after which the host may decide as it likes, if no other follows: a replay leaves such copies out.
FINAL = (*ORDERING, OperationKind.MEMCPY_DTOH)
# Kinds whose elements are the same in a capture, but for where their spans lie.
PLAIN = (Kind.DEVICE, Kind.LIMIT, Kind.KERNEL, Kind.STREAM, Kind.EDGE, Kind.RANGE, Kind.META)

# The call of allocations that are mappings of the program's own making.
MAPPED = frozenset({b"cuMemMap", b"hipMemMap"})


@dataclass
class Gathered:
    """All elements of a raw capture, by kind."""

    raw_capture: RawCapture
    elements: dict[Kind, list[Element]] = field(default_factory=lambda: defaultdict(list))

    def values(self, element: Element) -> dict[str, Any]:
        """Its fields; an array, a span and a content are tuples."""
        return _named(element.layout, element.raw)

    @property
    def region(self) -> str:
        """The region's name; empty if the raw capture has none. Raises MalformedError."""
        for element in self.elements[Kind.META]:
            key, value = (
                self.raw_capture.span(element, *self.values(element)[each]) for each in ("key", "value")
            )
            if key == b"region":
                return value.decode(errors="replace")
        return ""


def gather(raw_capture: RawCapture) -> Gathered:
    """Raises MalformedError."""
    gathered = Gathered(raw_capture)
    for element in raw_capture.elements():
        gathered.elements[element.kind].append(element)
    if len(gathered.elements[Kind.DEVICE]) != 1:
        raise MalformedError("the region ended before it had begun: no device was recorded")
    return gathered


class ElementPacker:
    """Writes what was gathered; `unknown` are flags for all allocations. Everything here raises MalformedError."""

    def __init__(
        self, gathered: Gathered, writer: CaptureWriter, calls: Sequence[str], unknown: AllocationFlag
    ) -> None:
        self._gathered = gathered
        self._raw_capture = gathered.raw_capture
        self._writer = writer
        self._calls, self._unknown = calls, unknown
        self._images: list[int] = []
        self._globals: list[int] = []
        kinds = [_operation_kind(each) for each in gathered.elements[Kind.OPERATION]]
        work = len(kinds)
        while work and kinds[work - 1] in FINAL:
            work -= 1
        self._work = work
        self._left_out = [at for at in range(work, len(kinds)) if kinds[at] == OperationKind.MEMCPY_DTOH]

    @property
    def operations(self) -> int:
        """Operations of the capture. The final copies to the host are left out."""
        return len(self._gathered.elements[Kind.OPERATION]) - len(self._left_out)

    def pack(self) -> None:
        for kind in PLAIN:
            for element in self._gathered.elements[kind]:
                self._move(element)
        self._pack_refusals()
        self._pack_images()
        for element in self._gathered.elements[Kind.MODULE]:
            self._move(element, image=self._index(self._images, element, "image"))
        self._pack_globals()
        self._pack_allocations()
        left_out = set(self._left_out)
        for number, element in enumerate(self._gathered.elements[Kind.OPERATION]):
            if number not in left_out:
                self._pack_operation(element)
        for element in self._gathered.elements[Kind.RELOCATION]:
            self._move(element, global_index=self._index(self._globals, element, "global_index"))

    def _pack_refusals(self) -> None:
        """Not those of reads that nothing follows: whatever the program did with what it read, the region was over."""
        for element in self._gathered.elements[Kind.REFUSAL]:
            values = self._gathered.values(element)
            before = values["operation"]
            if values["flags"] != RefusalFlag.READ or before < self._work:
                self._move(element, operation=before - bisect_left(self._left_out, before))

    def _pack_images(self) -> None:
        """Each once, however often it was loaded."""
        known: dict[tuple[bytes, int], int] = {}
        for element in self._gathered.elements[Kind.IMAGE]:
            values = self._gathered.values(element)
            place = self._raw_capture.place(element, *values["content"])
            digest = hashlib.sha256()
            for chunk in self._raw_capture.chunks(place, BLOB_MAX):
                digest.update(chunk)
            key = digest.digest(), place.bytes
            if key not in known:
                known[key] = self._move(element, sha256=key[0], content=self._content(place))
            self._images.append(known[key])

    def _pack_globals(self) -> None:
        """A global is written when its module is first used, and again, with what it then holds, at the end."""
        merged: list[tuple[Element, Place, Place]] = []
        known: dict[tuple[Any, ...], int] = {}
        for element in self._gathered.elements[Kind.GLOBAL]:
            values = self._gathered.values(element)
            name = self._raw_capture.span(element, *values["name"])
            key = values["module"], values["address"], values["bytes"], name
            before, after = (self._raw_capture.place(element, *values[each]) for each in ("before", "after"))
            index = known.setdefault(key, len(merged))
            self._globals.append(index)
            if index == len(merged):
                merged.append((element, before, after))
            else:
                first, first_before, first_after = merged[index]
                merged[index] = first, _either(first_before, before), _either(after, first_after)
        for element, before, after in merged:
            changed = NO_CONTENT if self._are_equal(before, after) else self._content(after)
            self._move(element, before=self._content(before), after=changed)

    def _pack_allocations(self) -> None:
        """Merge allocations that live at the beginning and at the end: the recorder may have written them twice."""
        flags: dict[tuple[int, int], int] = defaultdict(int)
        calls: dict[tuple[int, int], bytes] = defaultdict(bytes)
        for element in self._gathered.elements[Kind.ALLOCATION]:
            values = self._gathered.values(element)
            key = values["address"], values["bytes"]
            flags[key] |= values["flags"] | self._unknown
            slot = values["slot"]
            call = self._raw_capture.span(element, *values["call"])
            if not call and slot < len(self._calls):
                call = self._calls[slot].encode()
            calls[key] = calls[key] or call
        layout = ELEMENTS[Kind.ALLOCATION]
        for address, size, lives, call in _joined((*key, flags[key], calls[key]) for key in sorted(flags)):
            span = self._writer.span(call)
            self._writer.add_raw(Kind.ALLOCATION, layout.struct.pack(address, size, lives, 0, *span))

    def _pack_operation(self, element: Element) -> None:
        if _operation_kind(element) in (OperationKind.MEMCPY_HTOD, OperationKind.MEMCPY_DTOH):
            place = self._raw_capture.place(element, *self._gathered.values(element)["content"])
            self._move(element, content=self._content(place))
        else:
            self._move(element)

    def _move(self, element: Element, **changes: int | bytes | Content) -> int:
        """Append an element with some fields changed, and its spans where the capture has them."""
        layout = element.layout
        values: list[Any] = list(layout.struct.unpack(element.raw))
        for each, at in _places(layout):
            if each.reserved:
                values[at : at + each.values] = [b"" if each.code.endswith("s") else 0] * each.values
            elif each.span is not None:
                raw = self._raw_capture.span(element, values[at], values[at + 1])
                values[at : at + 2] = self._writer.span(raw[:TEXT_MAX] if each.span is Holds.TEXT else raw)
            elif (change := changes.get(each.attribute)) is not None:
                values[at : at + each.values] = (
                    (change.first, change.bytes) if isinstance(change, Content) else (change,)
                )
        return self._writer.add_raw(element.kind, layout.struct.pack(*values))

    def _index(self, indexes: list[int], element: Element, name: str) -> int:
        value: int = self._gathered.values(element)[name]
        if value >= len(indexes):
            kind, noun = element.kind.name.lower(), name.removesuffix("_index")
            raise MalformedError(f"{kind} at {element.at}: {noun} {value}, but there are {len(indexes)}")
        return indexes[value]

    def _content(self, place: Place) -> Content:
        return self._writer.content_of(self._raw_capture.chunks(place, BLOB_MAX), place.bytes)

    def _are_equal(self, one: Place, other: Place) -> bool:
        chunks = self._raw_capture.chunks(one, BLOB_MAX), self._raw_capture.chunks(other, BLOB_MAX)
        return one.bytes == other.bytes and all(a == b for a, b in zip(*chunks, strict=True))


def _joined(pieces: Iterable[tuple[int, int, int, bytes]]) -> Iterator[tuple[int, int, int, bytes]]:
    """Mappings side by side that live alike are one: a tensor may lie across those of one growing segment."""
    last: tuple[int, int, int, bytes] | None = None
    for address, size, lives, call in pieces:
        beside = last is not None and (last[0] + last[1], *last[2:]) == (address, lives, call)
        if last is not None and beside and call in MAPPED:
            last = last[0], last[1] + size, lives, call
            continue
        if last is not None:
            yield last
        last = address, size, lives, call
    if last is not None:
        yield last


def _either(one: Place, other: Place) -> Place:
    return one if one.bytes else other


def _operation_kind(element: Element) -> int:
    """The first field of each operation, as codec.operation_layout() reads it."""
    return int.from_bytes(element.raw[:4], "little")


@cache
def _places(layout: Layout) -> tuple[tuple[Field, int], ...]:
    """Each field, and where its first value is among those of the struct: found out once, since elements are many."""
    begins = accumulate((field.values for field in layout.fields), initial=0)
    return tuple(zip(layout.fields, begins, strict=False))


def _named(layout: Layout, raw: bytes) -> dict[str, Any]:
    flat = layout.struct.unpack(raw)
    return {
        field.attribute: flat[at] if field.values == 1 else flat[at : at + field.values]
        for field, at in _places(layout)
    }
