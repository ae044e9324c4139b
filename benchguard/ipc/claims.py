"""Claims on the machine's memory by the graders that run there at once.

A grader plans its input sets by the memory that is available, and fills them in the following seconds. Several graders
would plan with the same memory. So each claims the memory of its sets, and the others leave it out.

A claim is a lock (fcntl(2)) on a range of bytes in a file, with a byte for each MiB. The kernel releases the lock when
its process ends, and F_GETLK tells everyone its length. The file stays empty. A grader that plans holds a second lock
(flock) on the file.
"""

from __future__ import annotations

import fcntl
import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .lock_file import open_lock, try_lock

_NAME = "neutrino-memory.lock"
_MIB = 20
_FLOCK = struct.Struct("hhqqi0q")
"""struct flock: type, whence, start, length, process."""

_PLANNED = 2
"""The fewest bytes that a grader locks which has planned; others lock one byte."""

_POLL_SECONDS = 0.02
_WAIT_SECONDS = 5.0
"""Planning takes milliseconds, so the file's lock is not waited for any longer: whoever keeps it does not plan."""


class Claims:
    """The claim of this process, of one MiB at first, and the claims of others. A process has at most one."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _NAME
        self._file = open_lock(self._path)
        self._start = self._length = 0
        with self.planning():
            self._claim(1)

    @contextmanager
    def planning(self) -> Iterator[None]:
        """No other process makes or extends a claim in the context."""
        until = time.monotonic() + _WAIT_SECONDS
        while not try_lock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB) and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def claim(self, size: int) -> None:
        """Claim so many bytes instead of those before. For more of them, only within `planning`."""
        self._claim(_PLANNED + (size >> _MIB))

    def of_others(self) -> int:
        """Bytes that other processes have claimed."""
        return sum(max(0, length - _PLANNED) for _, length in _ranges(self._file)) << _MIB

    def unplanned(self) -> int:
        """The number of other graders that have not planned yet."""
        return sum(length < _PLANNED for _, length in _ranges(self._file))

    def others(self) -> int:
        """The number of other graders."""
        return sum(1 for _ in _ranges(self._file))

    def _claim(self, length: int) -> None:
        if length > self._length:
            if self._length:
                fcntl.lockf(self._file, fcntl.LOCK_UN, self._length, self._start)
            self._start = max((start + each for start, each in _ranges(self._file)), default=0)
            fcntl.lockf(self._file, fcntl.LOCK_SH | fcntl.LOCK_NB, length, self._start)
        elif length < self._length:
            fcntl.lockf(self._file, fcntl.LOCK_UN, self._length - length, self._start + length)
        self._length = length


def graders(folder: Path) -> int:
    """The number of graders of this machine, without this process."""
    descriptor = open_lock(folder / _NAME)
    try:
        return sum(1 for _ in _ranges(descriptor))
    finally:
        os.close(descriptor)


def _ranges(descriptor: int) -> Iterator[tuple[int, int]]:
    """The start and the length of each lock of other processes, in any order."""
    gaps = [(0, 0)]  # starts and ends; 0: the end of the file
    while gaps:
        start, end = gaps.pop()
        query = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, start, end - start if end else 0, 0)
        with suppress(OSError):  # a file system without such locks: nobody has one there
            kind, _, first, length, _ = _FLOCK.unpack(fcntl.fcntl(descriptor, fcntl.F_GETLK, query))
            if kind == fcntl.F_UNLCK:
                continue
            yield first, length
            if first > start:
                gaps.append((start, first))
            if length and (not end or first + length < end):
                gaps.append((first + length, end))
