"""Write and verify the audit log: JSON Lines, each with the SHA-256 of the previous line (docs/formats.md)."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from .. import exit_status
from ..errors import BenchguardError
from ..ipc.json_text import UNREADABLE
from .chain import FIRST, PREVIOUS_BYTES, LogError, chained
from .compact import SUFFIX, CompactFile, read_lines

__all__ = [
    "FORMAT",
    "LogError",
    "LogWriter",
    "Verified",
    "check_chain",
    "checked_lines",
    "parse_line",
    "read_log",
    "verify_log",
]

FORMAT = "neutrino-bench/audit/1"
REPORT_LINES = 1024


@dataclass(frozen=True)
class Verified:
    """`head` is the SHA-256 of the last line. Compared with a copy kept elsewhere, it reveals a rewritten log."""

    lines: int
    head: str


class LogWriter:
    """Appends lines to a new file. After a failed write nothing more is written.

    A path that ends in `.zst` gets a compact log.

    With `most_bytes`, lines that would make the log longer are left out, and `truncated` is set. The last line is
    written in any case.
    """

    def __init__(self, path: Path, replace: bool = False, most_bytes: int | None = None) -> None:
        self.path = path
        self.bytes = 0
        self.truncated = False
        self._most_bytes = most_bytes
        self.head = FIRST.encode()
        self.lines = 0
        self.error: str | None = None
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (0 if replace else os.O_EXCL)
        try:
            file = os.fdopen(os.open(path, flags, 0o644), "wb", buffering=1 << 20)
            _lock(file, path)
            self._file = CompactFile(file) if path.suffix == SUFFIX else file
        except FileExistsError as error:
            raise BenchguardError(
                f"the log {path} exists already; give another --log, or --force to replace it"
            ) from error
        except OSError as error:
            raise BenchguardError(
                f"cannot write the log {path}: {error.strerror}; give another path with --log"
            ) from error

    def write(self, line: bytes) -> None:
        """`line` is one JSON object without its `previous`."""
        if self._most_bytes is not None and self.bytes + len(line) + PREVIOUS_BYTES > self._most_bytes:
            self._most_bytes = 0  # no later line either: a log has no gaps before its end
            self.truncated = True
        else:
            self._write(line)

    def write_last(self, line: bytes) -> None:
        """Write the last line, whatever the log's length."""
        self._write(line)

    def _write(self, line: bytes) -> None:
        if self.error is not None:
            return
        whole = chained(line, self.head)
        try:
            self._file.write(whole)
        except OSError as error:
            self._fail(error)
            return
        self.head = hashlib.sha256(whole).hexdigest().encode()
        self.lines += 1
        self.bytes += len(whole)

    def flush(self) -> None:
        if self.error is None:
            try:
                self._file.flush()
            except OSError as error:
                self._fail(error)

    def close(self) -> None:
        self.flush()
        try:
            self._file.close()
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        self.error = self.error or (
            f"the log {self.path} could not be written to its end: {error.strerror}; "
            "what is there is kept, free some space or give another --log and run again"
        )


def _lock(file: BinaryIO, path: Path) -> None:
    """Lock a log for one run, and truncate it. The lock ends when the descriptor is closed."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise BenchguardError(
            f"another run is writing the log {path}; give another --log, or wait for that run"
        ) from error
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP):  # some network file systems have no locks
            raise
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.truncate(0)


def read_log(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """The lines of a log, in order. Each is checked against the chain before it is returned.

    Raises LogError at the first line that breaks the chain, and at the end of a log without an end line.
    """
    yield from (entry for entry, _ in checked_lines(Path(path)))


def verify_log(path: str | os.PathLike[str]) -> Verified:
    """Check the whole chain. Raises LogError."""
    verified = Verified(0, FIRST)
    for _, line_hash in checked_lines(Path(path)):
        verified = Verified(verified.lines + 1, line_hash)
    return verified


def checked_lines(
    path: Path, report: Callable[[int], None] | None = None
) -> Iterator[tuple[dict[str, Any], str]]:
    """Like read_log, with the hash of each line. `report` gets the position in the file from time to time."""
    try:
        file = path.open("rb")
    except OSError as error:
        failure = LogError(f"cannot read the log {path}: {error.strerror}; check the path")
        failure.status = exit_status.USAGE
        raise failure from error
    previous, number, kind = FIRST, 0, ""
    with file:
        for line in read_lines(file, str(path)):
            number += 1
            entry = parse_line(line, f"{path}, line {number}")
            if kind == "end":
                raise LogError(
                    f"{path}, line {number}: the log continues after its end line; lines were added"
                )
            check_chain(entry, previous, number, path)
            previous, kind = hashlib.sha256(line).hexdigest(), str(entry.get("kind"))
            if report is not None and number % REPORT_LINES == 0:
                report(file.tell())
            yield entry, previous
    if number == 0:
        raise LogError(f"{path} is empty; nothing was recorded")
    if kind != "end":
        raise LogError(
            f"{path}, line {number}: the log has no end line, so it was cut short here; "
            "the lines before are intact"
        )


def check_chain(entry: dict[str, Any], previous: str, number: int, path: Path) -> None:
    """Check that a line continues the chain. `previous` is the hash of the line before. Raises LogError."""
    if number == 1 and (entry.get("kind"), entry.get("format")) != ("session", FORMAT):
        raise LogError(f"{path}, line 1: not the beginning of a {FORMAT} log; give the path of an audit log")
    if entry["previous"] != previous:
        raise LogError(
            f"{path}, line {number}: does not match the hash of the previous line; a line was altered or removed"
        )


def parse_line(line: bytes, where: str) -> dict[str, Any]:
    """A line as a dictionary that has the text `previous`. Raises LogError."""
    if not line.endswith(b"\n"):
        raise LogError(f"{where}: incomplete line; the log was cut short here")
    try:
        entry = msgspec.json.decode(line)
    except UNREADABLE as error:
        raise LogError(f"{where}: not JSON ({error}); the line was altered") from error
    if not isinstance(entry, dict) or not isinstance(entry.get("previous"), str):
        raise LogError(f"{where}: not a line of an audit log; it was altered")
    return entry
