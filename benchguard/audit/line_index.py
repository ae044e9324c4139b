"""The index of a compact log's file: where each zstd frame is, and its first line (docs/formats.md, docs/adr/0046).

A reader can begin near a line. The index proves nothing, because a log may come from a stranger. Readers of the whole
file compute the index from the lines and compare it; others check the lines from the recorded hash on.
"""

from __future__ import annotations

import hashlib
import os
import struct
from bisect import bisect_right
from dataclasses import dataclass
from io import BufferedReader

from .chain import FIRST

MAGIC = b"\x5b\x2a\x4d\x18"
"""A skippable frame of zstd, which other readers of zstd pass over."""
END = b"nbLines1"
_HEADER = struct.Struct("<4sI")
_PLACE = struct.Struct("<QQ32s")
_TAIL = struct.Struct("<QQ8s")


@dataclass(frozen=True)
class Place:
    """The beginning of a frame, or the end of the last one.

    `lines` of the file precede it, `offset` is its position, and `head` is the hash of the line before, which may be in
    the file before.
    """

    lines: int
    offset: int
    head: str

    def packed(self) -> bytes:
        return _PLACE.pack(self.lines, self.offset, bytes.fromhex(self.head))


BEGINNING = Place(0, 0, FIRST)


def _tail(frames: int, is_continued: bool) -> bytes:
    return _TAIL.pack(frames, is_continued, END)


class IndexBuilder:
    """Collects the places of frames, and makes the index's own frame, which ends the file."""

    def __init__(self) -> None:
        self._places = bytearray()

    def add(self, place: Place) -> None:
        self._places += place.packed()

    def frame(self, end: Place, is_continued: bool) -> bytes:
        """`is_continued`: whether the log continues in another file."""
        frames = len(self._places) // _PLACE.size
        body = bytes(self._places) + end.packed() + _tail(frames, is_continued)
        return _HEADER.pack(MAGIC, len(body)) + body


class IndexCheck:
    """Compares the index of a file with the frames that were read, in the same memory for every file."""

    def __init__(self) -> None:
        self._frames = 0
        self._expected = hashlib.sha256()
        self._found = hashlib.sha256()
        self._header = b""
        self._left = 0

    def add(self, place: Place) -> None:
        self._frames += 1
        self._expected.update(place.packed())

    def begin(self, end: Place, is_continued: bool) -> None:
        """All frames were read; the bytes of the index follow."""
        self._left = (self._frames + 1) * _PLACE.size + _TAIL.size
        self._expected.update(end.packed() + _tail(self._frames, is_continued))
        self._header = _HEADER.pack(MAGIC, self._left)

    def accept(self, data: bytes) -> bool:
        """Take bytes of the index; false if they differ from the frames."""
        header, body = data[: len(self._header)], data[len(self._header) :]
        fits = self._header.startswith(header)
        self._header = self._header[len(header) :]
        self._left -= len(body)
        self._found.update(body)
        return fits and (self._left > 0 or (self._left == 0 and self._has_expected_bytes()))

    def _has_expected_bytes(self) -> bool:
        return self._found.digest() == self._expected.digest()


class LineIndex:
    """The index of a file, which is read where it is needed.

    Attributes:
        end: the end of the last frame; its `lines` are those of the file.
        is_continued: whether the log continues in another file.
    """

    def __init__(self, file: BufferedReader, start: int, frames: int, is_continued: bool) -> None:
        self._file, self._start, self._frames = file, start, frames
        self.end = self.place(frames)
        self.is_continued = is_continued

    def place(self, frame: int) -> Place:
        """The beginning of a frame, from 0; the end of the last one for the number of frames."""
        data = os.pread(self._file.fileno(), _PLACE.size, self._start + frame * _PLACE.size)
        lines, offset, head = _PLACE.unpack(data.ljust(_PLACE.size, b"\0"))
        return Place(lines, offset, head.hex())

    def frame_of(self, line: int) -> int:
        """The last frame that begins before a line, which counts from 1."""
        frames = range(self._frames)
        return max(0, bisect_right(frames, line - 1, key=lambda frame: self.place(frame).lines) - 1)


def read_index(file: BufferedReader) -> LineIndex | None:
    """The index at the end of a file; None if the file has none, or only a part of one."""
    size = os.fstat(file.fileno()).st_size
    if size < _TAIL.size:
        return None
    data = os.pread(file.fileno(), _TAIL.size, size - _TAIL.size)
    if len(data) < _TAIL.size:
        return None
    frames, is_continued, end = _TAIL.unpack(data)
    body = (frames + 1) * _PLACE.size + _TAIL.size
    start = size - body
    if end != END or frames == 0 or is_continued > 1 or body >= 1 << 32 or start < _HEADER.size:
        return None
    if os.pread(file.fileno(), _HEADER.size, start - _HEADER.size) != _HEADER.pack(MAGIC, body):
        return None
    index = LineIndex(file, start, frames, is_continued == 1)
    return index if index.end.offset == start - _HEADER.size else None
