"""Write and verify the audit log: JSON Lines, each with the SHA-256 of the previous line (docs/formats.md)."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

from .. import exit_status
from ..errors import BenchguardError
from ..ipc.bounded_file import open_written
from ..ipc.json_text import UNREADABLE, decode_untyped
from .chain import CONTINUATION_ALONE, FIRST, PREVIOUS_BYTES, LogError, chained
from .compact import SUFFIX, CompactFile, read_lines
from .parts import PART_BYTES_MIN, check_part, part_path

__all__ = [
    "FORMAT",
    "PART_BYTES_MIN",
    "STDOUT",
    "Chain",
    "LogError",
    "LogWriter",
    "Verified",
    "checked_lines",
    "read_log",
    "verify_log",
]

FORMAT = "neutrino-bench/audit/1"
STDOUT = Path("-")
REPORT_LINES = 1024
PIPE_SECONDS = 2.0
"""Longest wait for the writer of a named pipe: a shell may start reader and writer in either order."""
CONTINUED_BYTES = PREVIOUS_BYTES + 64
"""More than the line `continued` has."""


@dataclass(frozen=True)
class Verified:
    """`head` is the SHA-256 of the last line. Compared with a copy kept elsewhere, it reveals a rewritten log."""

    lines: int
    head: str


class LogWriter:
    """Appends lines to a new log. After a failed write nothing more is written.

    A path that ends in `.zst` gets a compact log; STDOUT is standard output.

    With `most_bytes`, lines that would make the log longer are left out, and `truncated` is set. The last line is
    written in any case. With `part_bytes`, the log continues in another file when a file has this size.
    """

    def __init__(
        self,
        path: Path,
        replace: bool = False,
        most_bytes: int | None = None,
        part_bytes: int | None = None,
    ) -> None:
        self.path = path
        self.bytes = 0
        self.truncated = False
        self.head = FIRST.encode()
        self.lines = 0
        self.parts = 1
        self.error: str | None = None
        self._most_bytes = most_bytes
        self._part_bytes = part_bytes
        self._replace = replace
        self._part_start = 0
        self._lock = -1
        second = part_path(path, 2)
        if part_bytes is not None and not replace and second.exists():
            raise BenchguardError(f"{second} exists already; give another --log, or --force to replace it")
        self._file = self._open(path)

    def _open(self, path: Path) -> BinaryIO | CompactFile:
        """Raises BenchguardError."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (0 if self._replace else os.O_EXCL)
        try:
            if path == STDOUT:
                return os.fdopen(os.dup(1), "wb", buffering=1 << 20)
            file = os.fdopen(os.open(path, flags, 0o644), "wb", buffering=1 << 20)
            _lock(file, path)
        except FileExistsError as error:
            raise BenchguardError(
                f"the log {path} exists already; give another --log, or --force to replace it"
            ) from error
        except OSError as error:
            raise BenchguardError(
                f"cannot write the log {path}: {error.strerror}; give another path with --log"
            ) from error
        return CompactFile(file) if self.path.suffix == SUFFIX else file

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
        if self._part_bytes is not None and self._is_full(len(line)):
            self._continue()
        self._append(line)

    def _is_full(self, more: int) -> bool:
        """Whether the file has no room for a line and for the line that ends the file; one line always has room."""
        assert self._part_bytes is not None
        if isinstance(self._file, CompactFile):
            return self._file.bytes >= self._part_bytes
        begun = self.bytes - self._part_start
        return begun > CONTINUED_BYTES and begun + more + PREVIOUS_BYTES + CONTINUED_BYTES > self._part_bytes

    def _continue(self) -> None:
        """Continue in the next file, which exists before the line that names it. The first file stays locked."""
        if self.error is not None:
            return
        try:
            following = self._open(part_path(self.path, self.parts + 1))
        except BenchguardError as error:
            self.error = str(error)
            return
        self._append(b'{"kind":"continued","part":%d}' % (self.parts + 1))
        if self._lock < 0:
            self._lock = os.dup(self._file.fileno())
        self._close_file()
        self._file, self.parts, self._part_start = following, self.parts + 1, self.bytes
        self._append(b'{"kind":"part","part":%d}' % self.parts)

    def _append(self, line: bytes) -> None:
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
        self._close_file()
        if self._lock >= 0:
            os.close(self._lock)

    def _close_file(self) -> None:
        self.flush()
        try:
            self._file.close()
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        if self.error is not None:
            return
        if self.path == STDOUT:
            self.error = (
                f"the log on standard output could not be written to its end: {error.strerror}; "
                "send it to a reader that stays, or to a file with free space"
            )
        else:
            self.error = (
                f"the log {part_path(self.path, self.parts)} could not be written to its end: {error.strerror}; "
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
    """Like read_log, with the hash of each line. `report` gets the number of bytes that were read from time to time."""
    chain, before, number = Chain(path), 0, 0
    while True:
        with opened(chain.file) as file:
            for line in read_lines(file, str(chain.file), chain.head):
                entry = chain.check(line)
                number += 1
                if report is not None and number % REPORT_LINES == 0:
                    report(before + file.tell())
                yield entry, chain.head
            if not chain.goes_on:
                chain.check_end()
                return
            before += file.tell()
        chain.go_on()


def opened(path: Path) -> BufferedReader:
    """Open a log's file, or a pipe that a program writes a log to. Raises LogError."""
    try:
        return open_written(path, PIPE_SECONDS)
    except OSError as error:
        advice = "start its writer, or give a file" if error.errno == errno.EPIPE else "check the path"
        failure = LogError(f"cannot read the log {path}: {error.strerror}; {advice}")
        failure.status = exit_status.USAGE
        raise failure from error


class Chain:
    """Checks the lines of a log one after the other, in all of its files. Each method raises LogError.

    Attributes:
        file: path of the file that the next line is in.
        head: hash of the last line.
    """

    def __init__(self, path: Path) -> None:
        self.file = path
        self.head = FIRST
        self._first = path
        self._part = 1
        self._number = 0
        self._kind = ""

    def check(self, line: bytes) -> dict[str, Any]:
        """Check the next line, and return it as a dictionary."""
        self._number += 1
        where = f"{self.file}, line {self._number}"
        if self._number == 1 and not line.startswith(b'{"kind":"'):
            raise LogError(f"{where}: not an audit log; give the path of an audit log")
        entry = parsed(line, where)
        if self._kind in ("end", "continued"):
            raise LogError(f"{where}: the log continues after its {self._kind} line; lines were added")
        if self._number == 1:
            self._check_first(entry, where)
        if entry["previous"] != self.head:
            raise LogError(
                f"{where}: does not match the hash of the previous line; a line was altered or removed"
            )
        self.head, self._kind = hashlib.sha256(line).hexdigest(), str(entry.get("kind"))
        if self._kind == "continued" and entry.get("part") != self._part + 1:
            raise LogError(f"{where}: the log continues in part {self._part + 1} only; the line was altered")
        return entry

    def _check_first(self, entry: dict[str, Any], where: str) -> None:
        if self._part > 1:
            if (entry.get("kind"), entry.get("part")) != ("part", self._part):
                raise LogError(
                    f"{where}: not the beginning of part {self._part} of a log; the file was exchanged"
                )
        elif entry.get("kind") == "part":
            raise LogError(f"{where}: {CONTINUATION_ALONE}")
        elif (entry.get("kind"), entry.get("format")) != ("session", FORMAT):
            raise LogError(f"{where}: not the beginning of a {FORMAT} log; give the path of an audit log")

    @property
    def goes_on(self) -> bool:
        """Whether the last line says that the log continues in another file."""
        return self._kind == "continued"

    def go_on(self) -> None:
        """Read the next file from now on."""
        self.file = check_part(self._first, self._part + 1)
        self._part, self._number, self._kind = self._part + 1, 0, ""

    @property
    def is_over(self) -> bool:
        """Whether the last line was the log's end line."""
        return self._kind == "end"

    def check_end(self) -> None:
        """Check that the last line is the log's end line."""
        if self._number == 0 and self._part == 1:
            raise LogError(f"{self.file} is empty; nothing was recorded")
        if self._kind != "end":
            raise LogError(
                f"{self.file}, line {self._number}: the log has no end line, so it was cut short here; "
                "the lines before are intact"
            )


def parsed(line: bytes, where: str) -> dict[str, Any]:
    """A line as a dictionary that has the text `previous`. Raises LogError."""
    if not line.endswith(b"\n"):
        raise LogError(f"{where}: incomplete line; the log was cut short here")
    try:
        entry = decode_untyped(line)
    except UNREADABLE as error:
        raise LogError(f"{where}: not JSON ({error}); the line was altered") from error
    if not isinstance(entry, dict) or not isinstance(entry.get("previous"), str):
        raise LogError(f"{where}: not a line of an audit log; it was altered")
    return entry
