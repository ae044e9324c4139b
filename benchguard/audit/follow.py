"""Read a log that is still written: its lines as they come, checked against the chain."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ..ipc.bounded_file import open_without_waiting
from .chain import LINE_MAX, LogError
from .compact import READ_BYTES, Expander, is_compact
from .line_index import Place
from .log import Chain, opened

POLL_SECONDS = 0.02


def follow_lines(path: Path, is_over: Callable[[], bool]) -> Iterator[dict[str, Any] | None]:
    """The lines of a log up to its end line, in all of its files; None each time that no line is there yet.

    Ends without an end line when `is_over` says that no more will be written. Raises LogError.
    """
    chain = Chain(path)
    while True:
        with opened(chain.file) as file:
            for line in _whole_lines(file, chain.file, chain.head, is_over):
                yield None if line is None else chain.check(line)
                if chain.is_over or chain.goes_on:
                    break
        if not chain.goes_on:
            return
        chain.go_on()


def has_writer(path: Path) -> bool:
    """Whether a run still writes the log: its writer holds a lock (log.LogWriter)."""
    try:
        with open(path, "rb", opener=open_without_waiting) as file:  # a pipe may have lost its writer
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _whole_lines(
    file: BinaryIO, path: Path, head: str, is_over: Callable[[], bool]
) -> Iterator[bytes | None]:
    rest = b""
    expander: Expander | None = None
    begun = False
    while True:
        over = is_over()  # asked before reading, so that what was written before it is read
        data = file.read(READ_BYTES)
        if data and not begun:
            begun, expander = True, Expander(str(path), Place(0, 0, head)) if is_compact(data) else None
        if data and expander is not None:
            yield from expander.feed(data)
        elif data:
            *lines, rest = (rest + data).split(b"\n")
            yield from (line + b"\n" for line in lines)
            if len(rest) > LINE_MAX:
                raise LogError(f"{path}: a line of more than {LINE_MAX} bytes; not an audit log")
        elif over:
            if rest:
                raise LogError(f"{path}: incomplete line; the log was cut short here")
            return
        else:
            yield None
            time.sleep(POLL_SECONDS)
