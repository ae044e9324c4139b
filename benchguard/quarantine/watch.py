"""Check a quarantine's use of memory, processes and disk from outside, ten times a second."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ..errors import BenchguardError
from ..ipc.claims import graders
from ..ipc.lock_file import lock_folder
from ..ipc.memory import machine_memory, memfd_bytes, resident_bytes
from .sandbox.environment import CAPTURES

_MACHINE_SHARE = 32
"""1/32 of the machine's memory stays free."""
_HOGGED_SHARE = 4
"""Beside other graders, only processes that use 1/4 of the machine's memory are blamed for a lack of it."""

_DISK_FLOOR = 1 << 30
_INODE_FLOOR = 10_000
_DISK_MIN = 64 << 20
"""Free bytes without which no submission starts: it would be blamed for a disk that was full before."""

_ENTRIES_MAX = 100_000
_RETURN_SECONDS = 1.0
"""Time for the kernel to free what ended processes had."""
_POLL_SECONDS = 0.05


class ShortageError(BenchguardError):
    """Memory or disk of the machine is used up, but not by the processes watched. This is not a verdict on them."""


def check_disk(folder: Path) -> None:
    """Raises ShortageError for a disk on which a submission cannot be graded."""
    status = os.statvfs(folder)
    free = status.f_bavail * status.f_frsize
    if free < _DISK_MIN:
        raise ShortageError(
            f"{folder.parent} has {free >> 20} MiB left, and a grade needs {_DISK_MIN >> 20} MiB; free some, or let "
            "TMPDIR name a larger disk"
        )


class Watch:
    """`memory_bytes` 0: only the machine's own limit. `subject` names the processes in messages."""

    def __init__(
        self, memory_bytes: int, processes: int, scratch: Path, subject: str = "the submission"
    ) -> None:
        self._subject = subject
        self._memory, self._processes, self._scratch = memory_bytes, processes, scratch
        self._available = machine_memory()[1]
        free, inodes = self._free()
        self._free_at_start = free
        self._disk_floor = min(_DISK_FLOOR, free // 4)
        self._inode_floor = min(_INODE_FLOOR, inodes // 4)
        self._shortage: tuple[Callable[[], int], int, str] | None = None

    def look(self, members: Sequence[int]) -> str:
        """Why the processes must be killed; empty if they are within their limits.

        Raises ShortageError for a machine that other processes have filled: other grades, or the judge with its input
        sets. A submission is blamed if half of what was there at its start is found with it; beside other graders, only
        if 1/4 of all memory is. End it after the exception, and ask blame(), because it may have hidden what it uses.
        """
        if len(members) > self._processes:
            return f"{self._subject} had more than {self._processes} processes; start fewer"
        used = sum(map(resident_bytes, members))
        if self._memory and used > self._memory:
            return (
                f"{self._subject} used {used / (1 << 30):.1f} GiB of memory, "
                f"{self._memory / (1 << 30):.1f} GiB are allowed; use less, or raise --memory"
            )
        total, available = machine_memory()
        if available < total // _MACHINE_SHARE:
            used = max(used, memfd_bytes(members))
            fault = f"{self._subject} left {available >> 20} MiB of the machine's memory; use less"
            others = graders(lock_folder()) - 1  # the judge of this grade is counted
            if used < max(self._available // 2, total // _HOGGED_SHARE if others > 0 else 0):
                if others <= 0:  # else their memory comes back, too
                    self._shortage = (lambda: machine_memory()[1]), available + self._available // 2, fault
                raise ShortageError(
                    f"the machine has {available >> 20} MiB of memory left, and {self._subject} uses {used >> 20} MiB; "
                    "grade fewer at once, give fewer --sets, or use a machine with more memory"
                )
            return fault
        free, inodes = self._free()
        if free < self._disk_floor or inodes < self._inode_floor:
            written, files = _contents(self._scratch)
            fault = self._disk_fault(free, inodes)
            if written < self._free_at_start // 2 and files < _ENTRIES_MAX:
                if free < self._disk_floor:
                    self._shortage = (
                        (lambda: self._free()[0]),
                        free + self._free_at_start // 2 - written,
                        fault,
                    )
                else:
                    self._shortage = (lambda: self._free()[1]), inodes + _ENTRIES_MAX - files, fault
                raise ShortageError(
                    f"{self._scratch.parent} has {free >> 20} MiB and {inodes} files left, and {self._subject} wrote "
                    f"{written >> 20} MiB; free some, or let TMPDIR name a larger disk"
                )
            return fault
        return ""

    def _disk_fault(self, free: int, inodes: int) -> str:
        captured, _ = _contents(self._scratch / CAPTURES)
        if captured >= self._free_at_start // 2:
            return (
                f"captures of {self._subject}'s calls took {captured >> 20} MiB and left {free >> 20} MiB on its "
                "scratch disk; grade fewer cases at once, keep less device memory, or let TMPDIR name a larger disk"
            )
        return f"{self._subject} left {free >> 20} MiB and {inodes} files on its scratch disk; write less"

    def blame(self) -> str:
        """Why a shortage was the processes' fault, once they have ended; empty if it was not.

        Files without a name, and what is queued in sockets, are found with nobody. They come back with the end of the
        processes that used them: half of what was there at the start must come back.
        """
        if self._shortage is None:
            return ""
        measure, enough, fault = self._shortage
        until = time.monotonic() + _RETURN_SECONDS
        while measure() < enough:
            if time.monotonic() > until:
                return ""
            time.sleep(_POLL_SECONDS)
        return fault

    def _free(self) -> tuple[int, int]:
        """Free bytes and inodes. A file system that does not count inodes has no limit."""
        status = os.statvfs(self._scratch)
        return status.f_bavail * status.f_frsize, status.f_favail if status.f_files else 1 << 40


def _contents(folder: Path) -> tuple[int, int]:
    """Bytes on disk and number of the files beneath a folder. Counts at most _ENTRIES_MAX files."""
    size = count = 0
    folders = [folder]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    count += 1
                    if count >= _ENTRIES_MAX:
                        return size, count
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(Path(entry.path))
                    else:
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
        except OSError:  # a submission may remove it at this moment, or make it unreadable
            continue
    return size, count
