"""The files of one log: PATH, and with a limit for a file also PATH.2, PATH.3 and so on (docs/formats.md).

The last line of a file that is continued is `continued`, the first line of its continuation is `part`. The hash chain
goes on from one to the other.
"""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Iterator
from itertools import count, takewhile
from pathlib import Path

from .chain import LogError

PART_BYTES_MIN = 64 << 10
"""Smaller files would be too many for one folder."""


def part_path(first: Path, part: int) -> Path:
    """The path of a part of the log whose first file is `first`. Parts count from 1."""
    return first if part == 1 else first.with_name(f"{first.name}.{part}")


def check_part(first: Path, part: int) -> Path:
    """The path of a part after the first.

    Raises LogError if it is missing, or not a regular file: to open that could wait forever.
    """
    path = part_path(first, part)
    try:
        is_file = stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        raise LogError(
            f"{path} is missing: the log {first} continues there; put all of its files into one folder"
        ) from None
    except OSError as error:
        raise LogError(f"cannot read {path}: {error.strerror}; check the path") from error
    if not is_file:
        raise LogError(
            f"{path} is not a regular file, but the log {first} continues there; copy the file itself"
        )
    return path


def parts_of(first: Path) -> Iterator[Path]:
    """The files of a log, up to the first that is missing."""
    return takewhile(Path.exists, (part_path(first, part) for part in count(1)))


def size_of(first: Path) -> int:
    """Add up the bytes of all files of a log."""
    total = 0
    with contextlib.suppress(OSError):  # a file was removed meanwhile
        for path in parts_of(first):
            total += path.stat().st_size
    return total
