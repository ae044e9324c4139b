"""The lines of an audit log as typed entries. A log may come from a stranger, so each field's type is checked."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from ..audit import entries
from ..audit.entries import Entry
from ..audit.log import FIRST, LINE_MAX, LogError, checked_lines

KINDS: dict[str, type[Entry]] = {
    str(kind.__struct_config__.tag): kind for kind in vars(entries).values() if kind in Entry.__subclasses__()
}
_ADDED_LATER: dict[str, dict[str, Any]] = {"session": {"api": "cuda"}, "graph": {"first": 0}}
"""Fields that older logs lack, with their meaning there."""


class LogEntries:
    """Iterates over the entries of a log, to the place where it is cut short or altered.

    Attributes:
        problem: why reading ended before the log's end line; empty if it did not.
        lines: number of lines that were read.
        head: SHA-256 of the last line that was read.
        unknown: number of lines of kinds that this version does not know.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem = ""
        self.lines = 0
        self.head = FIRST
        self.unknown = 0

    def __iter__(self) -> Iterator[Entry]:
        """Raises LogError if the file is not an audit log."""
        try:
            for line, line_hash in checked_lines(self.path):
                entry = self._typed(line)
                self.lines, self.head = self.lines + 1, line_hash
                if entry is not None:
                    yield entry
        except LogError as error:
            if self.lines == 0:
                raise
            self.problem = str(error)

    def _typed(self, line: dict[str, Any]) -> Entry | None:
        kind = line.get("kind")
        if not isinstance(kind, str) or kind not in KINDS:
            self.unknown += 1
            return None
        for name, value in _ADDED_LATER.get(kind, {}).items():
            line.setdefault(name, value)
        try:
            return msgspec.convert(line, KINDS[kind])
        except (msgspec.ValidationError, RecursionError) as error:
            raise LogError(
                f"{self.path}, line {self.lines + 1}: not a valid line of kind {kind} ({error}); the line was altered"
            ) from None


def end_time(path: Path) -> int | None:
    """`time_ns` of a log's end line, without reading the lines before; None if the log has no valid end line."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - LINE_MAX))
            last = file.read(LINE_MAX).splitlines()[-1]
        return msgspec.convert(msgspec.json.decode(last), entries.EndEntry).time_ns
    except (OSError, IndexError, msgspec.MsgspecError, RecursionError):
        return None
