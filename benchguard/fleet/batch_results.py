"""The results of a batch: the append-only file neutrino-bench/batch/1, one line of JSON for each outcome.

A line is on the disk before the next job's outcome is looked at. A batch that was killed leaves whole lines, and at
most one torn line at the end, which the next batch removes.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from ..errors import BenchguardError, UsageError
from ..grade.result import GradeResult, Verdict
from ..ipc.json_text import UNREADABLE, json_line
from .order import ANSWER_MAX

Schema = Literal["neutrino-bench/batch/1"]
SCHEMA: Schema = "neutrino-bench/batch/1"

LINE_MAX = ANSWER_MAX + (1 << 20)
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK  # a FIFO must not block
_START = f'{{"schema":"{SCHEMA}"'.encode()


class Outcome(msgspec.Struct, frozen=True):
    """The part of a line that a resumed batch needs. `verdict` is None if the machines failed."""

    schema: Schema
    job: str
    id: str
    verdict: Verdict | None
    bundle: str = ""


class BatchLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The outcome of a submission.

    Attributes:
        job: SHA-256 of problem, submission and options. A job with a verdict is never graded again.
        id: the submission's path, or the id of its line.
        problem: PATH or PATH:NAME.
        submission: SHA-256 of the submission's files.
        options: the options that differ from the defaults.
        verdict: the verdict. None: every attempt failed because of a machine, so nothing is known about the submission.
        trouble: why there is no result, with each attempt's failure; empty with a result.
        attempts: how often the job was tried.
        place: the machine that graded it, or failed last.
        stage: "cpu" if the first stage of a cascade decided.
        result: the document neutrino-bench/result/1.
        bundle: the id of the bundle in the batch's archive; empty without one.
    """

    schema: Schema
    job: str
    id: str
    problem: str
    submission: str
    options: dict[str, Any]
    verdict: Verdict | None
    trouble: str
    attempts: int
    place: str
    stage: Literal["cpu", "final"]
    result: GradeResult | None
    bundle: str = ""


class BatchResults:
    """An open file of results, which no other batch writes at the same time. Use it as a context manager.

    Attributes:
        outcomes: the verdict of each job, and the place of its line.
        lost: the jobs that have a line without a verdict.
        ids: the pairs (job, id) that have a line with a verdict.
        bundled: the jobs whose first line with a verdict has a bundle.
        repaired: bytes of a torn line that were removed.
    """

    def __init__(self, path: Path) -> None:
        """Open the file, or create it, and read its lines.

        Raises UsageError if it is not such a file, or if another batch writes it; BenchguardError.
        """
        self.path = path
        self.outcomes: dict[str, tuple[Verdict, int]] = {}
        self.lost: set[str] = set()
        self.ids: set[tuple[str, str]] = set()
        self.bundled: set[str] = set()
        self.repaired = 0
        try:
            self._file = os.open(path, _FLAGS, 0o644)
        except OSError as error:
            raise UsageError(f"cannot open {path}: {error.strerror}; name another file") from error
        try:
            self._lock()
            self._end = self._read()
            _sync_folder(path)
        except OSError as error:
            self.close()
            raise BenchguardError(f"cannot use {path}: {error.strerror}; name another file") from error
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> BatchResults:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        os.close(self._file)

    def append(self, line: BatchLine) -> None:
        """Write a line, and wait until it is on the disk.

        Raises BenchguardError; the file then ends before the line.
        """
        data = json_line(line) + b"\n"
        start = self._end
        try:
            written = 0
            while written < len(data):
                written += os.write(self._file, data[written:])
            os.fsync(self._file)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, start)
            raise BenchguardError(
                f"cannot write {self.path}: {error.strerror}; make room, and start the batch again: it keeps the "
                f"{len(self.ids)} results that are there"
            ) from error
        self._end += len(data)
        self._note(Outcome(SCHEMA, line.job, line.id, line.verdict, line.bundle), start)

    def line_of(self, job: str) -> BatchLine:
        """The stored line of a job with a verdict. Raises BenchguardError."""
        for line in self._stored(self.outcomes[job][1]):
            return line
        raise BenchguardError(f"{self.path} became shorter while the batch ran; start it again")

    def lines(self) -> Iterator[BatchLine]:
        """Every line with a verdict. Raises BenchguardError."""
        return (line for line in self._stored(0) if line.verdict is not None)

    def _stored(self, start: int) -> Iterator[BatchLine]:
        for place, data in self._lines(start):
            try:
                yield msgspec.json.decode(data, type=BatchLine)
            except UNREADABLE as error:
                raise BenchguardError(
                    f"{self.path}: the line at byte {place} cannot be read: {error}; name a new file"
                ) from error

    def _lock(self) -> None:
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            raise UsageError(f"{self.path} is not a regular file; name another file")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageError(
                f"another batch writes {self.path}; wait for it, or name another file"
            ) from error

    def _read(self) -> int:
        """Note every line, remove a torn one, and return the end of the last whole line."""
        end = 0
        for number, (start, data) in enumerate(self._lines(0), 1):
            if not data.endswith(b"\n"):
                self._repair(start, data)
                break
            try:
                self._note(msgspec.json.decode(data, type=Outcome), start)
            except UNREADABLE as error:
                raise UsageError(
                    f"{self.path}, line {number}: not a result of a batch; name a new file, or one of a batch"
                ) from error
            end = start + len(data)
        return end

    def _repair(self, start: int, data: bytes) -> None:
        """Remove the start of a line. A file of other content is refused, and stays as it is."""
        # A line that is too long was cut by _lines(), and others may follow.
        is_last = start + len(data) == os.fstat(self._file).st_size
        if not (is_last and (_START.startswith(data[: len(_START)]) or data.strip(b"\0") == b"")):
            raise UsageError(f"{self.path} does not end as the results of a batch do; name another file")
        os.ftruncate(self._file, start)
        os.fsync(self._file)
        self.repaired = len(data)

    def _lines(self, start: int) -> Iterator[tuple[int, bytes]]:
        """Each line from `start` on, with its place. A line of LINE_MAX bytes or more is cut."""
        with self.path.open("rb") as file:
            file.seek(start)
            while data := file.readline(LINE_MAX):
                yield start, data
                start += len(data)

    def _note(self, outcome: Outcome, start: int) -> None:
        if outcome.verdict is None:
            self.lost.add(outcome.job)
        else:
            if outcome.bundle and outcome.job not in self.outcomes:
                self.bundled.add(outcome.job)
            self.outcomes.setdefault(outcome.job, (outcome.verdict, start))
            self.ids.add((outcome.job, outcome.id))


def _sync_folder(path: Path) -> None:
    """A new file survives a loss of power only if its folder's entry is on the disk, too (fsync(2))."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
