"""Print lines of an audit log by their numbers."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

from ..audit.span import count_lines, numbered_lines
from ..errors import UsageError
from ..ipc.json_text import json_line
from .output import say
from .reading import busy
from .streams import quiet_pipe


def print_lines(path: Path, first: int, last: int | None) -> None:
    """Print a line of JSON for each line of the log. A negative `first` counts from the end.

    Raises UsageError for a log without such a line, and LogError for a line that was altered.
    """
    with busy(f"reading {path.name}"):
        if first < 0:
            first = max(1, count_lines(path) + 1 + first)
        lines = numbered_lines(path, first, last)
        begin = next(lines, None)
        if begin is None:
            raise UsageError(
                f"{path} has {count_lines(path):,} lines, and no line {first:,}; give another --lines"
            )
    with quiet_pipe(sys.stdout):
        for number, entry in itertools.chain((begin,), lines):
            say(json_line({"line": number, **entry}).decode())
