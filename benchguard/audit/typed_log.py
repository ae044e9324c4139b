"""The lines of an audit log as typed entries. A log may come from a stranger, so each field's type is checked."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from ..ipc.json_text import UNREADABLE, decode_untyped
from .chain import FIRST, LINE_MAX, LogError
from .compact import is_compact
from .entries import ContinuedEntry, EndEntry, Line, parse_entry
from .log import checked_lines
from .parts import check_part
from .span import last_line


class LogEntries:
    """Iterates over the entries of a log, to the place where it is cut short or altered.

    Attributes:
        problem: why reading ended before the log's end line; empty if it did not.
        lines: number of lines that were read.
        head: SHA-256 of the last line that was read.
        unknown: number of lines of kinds that this version does not know.
    """

    def __init__(self, path: Path, lines: Iterable[tuple[dict[str, Any], str]] | None = None) -> None:
        """`lines`: those of checked_lines, if somebody else reads them too."""
        self.path = path
        self._source = checked_lines(path) if lines is None else lines
        self.problem = ""
        self.lines = 0
        self.head = FIRST
        self.unknown = 0

    def __iter__(self) -> Iterator[Line | None]:
        """None is a line of a kind that this version does not know. Raises LogError if the file is not an audit log."""
        try:
            for line, line_hash in self._source:
                entry = self._typed(line)
                self.lines, self.head = self.lines + 1, line_hash
                yield entry
        except LogError as error:
            if self.lines == 0:
                raise
            self.problem = str(error)

    def _typed(self, line: dict[str, Any]) -> Line | None:
        try:
            entry = parse_entry(line)
        except (msgspec.ValidationError, RecursionError) as error:
            raise LogError(
                f"{self.path}, line {self.lines + 1}: not a valid line of kind {line.get('kind')} ({error}); "
                "the line was altered"
            ) from None
        self.unknown += entry is None
        return entry


def end_time(path: Path) -> int | None:
    """`time_ns` of a log's end line, without parsing the lines before; None if the log has no valid end line.

    None for a pipe, too, whose bytes can be read once.
    """
    if not path.is_file():
        return None
    head = FIRST
    try:
        for part in count(1):
            last = _last_line(check_part(path, part) if part > 1 else path, head)
            entry = msgspec.convert(decode_untyped(last), ContinuedEntry | EndEntry)
            if isinstance(entry, EndEntry):
                return entry.time_ns
            head = hashlib.sha256(last).hexdigest()
    except (OSError, IndexError, LogError, *UNREADABLE):
        pass
    return None


def _last_line(path: Path, head: str) -> bytes:
    """`head`: hash of the last line of the file before. Raises IndexError for an empty file, OSError, LogError."""
    with path.open("rb") as file:
        if is_compact(file.peek(1)):
            return last_line(file, head)
        file.seek(max(0, os.fstat(file.fileno()).st_size - LINE_MAX))
        return file.read(LINE_MAX).splitlines(keepends=True)[-1]
