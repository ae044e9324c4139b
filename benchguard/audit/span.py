"""Lines of a log by their numbers, without reading every line before them (docs/adr/0046).

The index of a compact log names the frame to begin with. Other logs are read from the beginning, without parsing the
lines before. Lines are checked from there on; only `verify-log` proves that a number is that of the line.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator
from io import BufferedReader
from itertools import count
from pathlib import Path
from typing import Any

from .chain import CONTINUATION, CONTINUATION_ALONE, CONTINUED, FIRST, LogError
from .compact import Expander, is_compact, read_lines
from .line_index import LineIndex, Place, read_index
from .log import opened, parsed
from .parts import check_part

READ_BYTES = 64 << 10


def numbered_lines(path: Path, first: int, last: int | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """The lines from number `first` to `last`, or to the end. Numbers count from 1, through all files of the log.

    Raises LogError for an altered line, and for an index that does not fit the frames after its place.
    """
    before, head = 0, FIRST
    for part in count(1):
        with opened(path if part == 1 else check_part(path, part)) as file:
            index = _index_of(file)
            _check_beginning(file, index, head)
            if index is not None and before + index.end.lines < first:
                before, head, is_continued = before + index.end.lines, index.end.head, index.is_continued
            else:
                start, lines = _lines_near(file, index, head, first - before, last and last - before)
                before, head, line = before + start.lines, start.head, b""
                for line in lines:
                    before += 1
                    if first <= before and (last is None or before <= last):
                        yield before, _checked(line, head, f"{file.name}, line {before}")
                    if first <= before + 1:
                        head = _hash(line)
                head, is_continued = (_hash(line) if line else head), line.startswith(CONTINUED)
        if not is_continued or (last is not None and before >= last):
            return


def count_lines(path: Path) -> int:
    """The number of lines of a log, in all of its files. Raises LogError."""
    lines, head, part, is_continued = 0, FIRST, 0, True
    while is_continued:
        part += 1
        with opened(path if part == 1 else check_part(path, part)) as file:
            index, line = _index_of(file), b""
            if index is not None:
                lines, head, is_continued = lines + index.end.lines, index.end.head, index.is_continued
            else:
                for number, line in enumerate(read_lines(file, file.name, head), lines + 1):  # noqa: B007
                    lines = number
                head, is_continued = _hash(line), line.startswith(CONTINUED)
    return lines


def last_line(file: BufferedReader, head: str) -> bytes:
    """The last line of a compact log's file. `head`: hash of the line before its first one.

    Raises LogError, and IndexError for a file without lines.
    """
    index = _index_of(file)
    _, lines = _lines_near(file, index, head, index.end.lines if index else 1, None)
    return deque(lines, maxlen=1)[-1]


def _index_of(file: BufferedReader) -> LineIndex | None:
    return read_index(file) if is_compact(file.peek(1)) else None


def _check_beginning(file: BufferedReader, index: LineIndex | None, head: str) -> None:
    """`head`: hash of the last line of the file before. Raises LogError."""
    if head == FIRST and (
        file.peek(1).startswith(CONTINUATION) or (index is not None and index.place(0).head != FIRST)
    ):
        raise LogError(f"{file.name}: {CONTINUATION_ALONE}")
    if index is not None and index.place(0).head != head:
        raise LogError(f"{file.name}: does not continue the file before; the file was exchanged")


def _lines_near(
    file: BufferedReader, index: LineIndex | None, head: str, first: int, last: int | None
) -> tuple[Place, Iterator[bytes]]:
    """A place at or before the line `first` of a file, and the lines from there to `last`, or some more."""
    if index is None:
        return Place(0, 0, head), _until(read_lines(file, file.name, head), last)
    frame = index.frame_of(first)
    return index.place(frame), _lines_of_frames(file, index, frame, last)


def _until(lines: Iterator[bytes], last: int | None) -> Iterator[bytes]:
    for number, line in enumerate(lines, 1):
        yield line
        if number == last:
            return


def _lines_of_frames(file: BufferedReader, index: LineIndex, frame: int, last: int | None) -> Iterator[bytes]:
    """The lines from a frame on. The index must fit the begin of each next frame, and the end of the last one."""
    false = LogError(f"{file.name}: the index does not match the lines; the log was altered")
    places = map(index.place, count(frame))
    is_done = False

    def check(place: Place) -> None:
        nonlocal is_done
        if place != next(places):
            raise false
        is_done = last is not None and place.lines >= last

    start = index.place(frame)
    expander, left = Expander(file.name, start, check), index.end.offset - start.offset
    file.seek(min(start.offset, index.end.offset))
    while left > 0 and not is_done and (data := file.read(min(READ_BYTES, left))):
        left -= len(data)
        yield from expander.feed(data)
    if not is_done and expander.place != index.end:
        raise false


def _checked(line: bytes, head: str, where: str) -> dict[str, Any]:
    entry = parsed(line, where)
    if entry["previous"] != head:
        raise LogError(
            f"{where}: does not match the hash of the previous line; a line was altered or removed"
        )
    return entry


def _hash(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()
