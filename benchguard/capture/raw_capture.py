"""Reads a raw capture (.nrec) an element at a time: hostile bytes, and more of them than memory holds.

Bulk data stays in the file: an element says where it is.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .codec import MalformedError, operation_layout
from .fields import Layout
from .layout import CAPTURE_MAGIC, ELEMENT, ELEMENTS, RAW_CAPTURE, RAW_CAPTURE_MAGIC, RAW_VERSION, Kind

# Small data of one element: attributes, parameters and names together stay far below.
SPAN_MAX = 1 << 20
ELEMENTS_MAX = 1 << 22
_RUNS = (Kind.BEFORE, Kind.AFTER)


@dataclass(frozen=True)
class Element:
    """`raw` is its struct; its payload is `bytes` long and begins at `at` in the file."""

    kind: Kind
    raw: bytes
    at: int
    bytes: int

    @property
    def layout(self) -> Layout:
        """Raises MalformedError for an operation of an unknown kind."""
        return operation_layout(self.raw) if self.kind is Kind.OPERATION else ELEMENTS[self.kind]


@dataclass(frozen=True)
class Place:
    """Bulk data in the raw capture."""

    at: int
    bytes: int


class RawCapture:
    """An open raw capture. Everything here raises MalformedError."""

    def __init__(
        self, descriptor: int, deadline: float | None = None, elements_max: int = ELEMENTS_MAX
    ) -> None:
        """`deadline` is by the monotonic clock. `elements_max` counts elements besides runs of memory."""
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise MalformedError("not a file")
        self.descriptor = descriptor
        self._deadline, self._elements_max = deadline, elements_max
        self.bytes = status.st_size
        self.unknown = 0
        header = self.read(0, min(RAW_CAPTURE.size, self.bytes))
        if len(header) < RAW_CAPTURE.size:
            raise MalformedError("the raw capture is shorter than its header")
        magic, version, self.process, self.region, _ = RAW_CAPTURE.struct.unpack(header)
        if magic == CAPTURE_MAGIC:
            raise MalformedError("this is a packed capture, not a raw one; inspect or replay it as it is")
        if magic != RAW_CAPTURE_MAGIC:
            raise MalformedError("not a raw capture")
        if version != RAW_VERSION:
            raise MalformedError(
                f"the file has version {version} of the format; this program reads version {RAW_VERSION}"
            )

    def elements(self) -> Iterator[Element]:
        """All of them up to the region's end, which is the last. Kinds that are not known are counted only."""
        at, count, runs, ended = RAW_CAPTURE.size, 0, 0, False
        while at < self.bytes:
            if ended:
                raise MalformedError("the raw capture goes on after the region's end")
            head = self.read(at, min(ELEMENT.size, self.bytes - at))
            if len(head) < ELEMENT.size:
                raise MalformedError(_unended(at))
            number, _, size = ELEMENT.struct.unpack(head)
            at += ELEMENT.size
            if size > self.bytes - at:
                raise MalformedError(_unended(at))
            count += 1
            runs += number in _RUNS
            if size % 8:
                raise MalformedError(
                    f"element {count} at {at}: its size, {size} bytes, is not a multiple of 8"
                )
            if count > ELEMENTS_MAX or count - runs > self._elements_max:
                raise MalformedError(
                    f"more than {self._elements_max} elements besides memory, or {ELEMENTS_MAX} in all"
                )
            try:
                kind = Kind(number)
            except ValueError:
                self.unknown += 1
            else:
                yield self._element(kind, at, size)
                ended = kind is Kind.END
            at += size
        if not ended:
            raise MalformedError(_unended(at))

    def _element(self, kind: Kind, at: int, size: int) -> Element:
        if kind is Kind.DATA or size < ELEMENTS[kind].size:
            raise MalformedError(
                f"{kind.name.lower()} at {at}: an element of this kind does not have {size} bytes"
            )
        return Element(kind, self.read(at, ELEMENTS[kind].size), at, size)

    def span(self, element: Element, offset: int, size: int) -> bytes:
        """Small data of an element."""
        self._check_inside(element, offset, size)
        if size > SPAN_MAX:
            raise MalformedError(
                f"{element.kind.name.lower()} at {element.at}: {size} bytes of small data; at most {SPAN_MAX} are read"
            )
        return self.read(element.at + offset, size) if size else b""

    def place(self, element: Element, first: int, size: int) -> Place:
        """Bulk data of an element."""
        self._check_inside(element, first, size)
        return Place(element.at + first, size)

    def read(self, at: int, size: int) -> bytes:
        self._check_time()
        raw = os.pread(self.descriptor, size, at)
        if len(raw) != size:
            raise MalformedError("the raw capture became shorter")
        return raw

    def read_into(self, view: memoryview, at: int) -> None:
        """Fill a view."""
        self._check_time()
        if os.preadv(self.descriptor, [view], at) != len(view):
            raise MalformedError("the raw capture became shorter")

    def _check_time(self) -> None:
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise MalformedError(f"the raw capture, {self.bytes} bytes, takes too long to read")

    def chunks(self, place: Place, size: int) -> Iterator[bytes]:
        """Bulk data in pieces of `size`, the last of them shorter."""
        for at in range(0, place.bytes, size):
            yield self.read(place.at + at, min(size, place.bytes - at))

    @staticmethod
    def _check_inside(element: Element, offset: int, size: int) -> None:
        if size and (offset < len(element.raw) or offset + size > element.bytes):
            raise MalformedError(
                f"{element.kind.name.lower()} at {element.at}: {size} bytes at {offset} are not in its payload"
            )


def open_raw_capture(path: Path) -> int:
    """Its descriptor. Raises OSError."""
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)


def _unended(at: int) -> str:
    return f"the raw capture stops at byte {at} without the region's end"
