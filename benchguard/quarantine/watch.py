"""Check a quarantine's use of memory, processes and disk from outside, ten times a second."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..ipc.memory import machine_memory, resident_bytes

_MACHINE_SHARE = 32
"""1/32 of the machine's memory stays free. Memory in files and memfds is in no process's count, so this limits it."""
_DISK_FLOOR = 1 << 30
_INODE_FLOOR = 10_000


class Watch:
    """`memory_bytes` 0: only the machine's own limit. `subject` names the processes in messages."""

    def __init__(
        self, memory_bytes: int, processes: int, scratch: Path, subject: str = "the submission"
    ) -> None:
        self._subject = subject
        self._memory, self._processes, self._scratch = memory_bytes, processes, scratch
        free, inodes = self._free()
        self._disk_floor = min(_DISK_FLOOR, free // 4)
        self._inode_floor = min(_INODE_FLOOR, inodes // 4)

    def look(self, members: Sequence[int]) -> str:
        """Why the processes must be killed; empty if they are within their limits."""
        if len(members) > self._processes:
            return f"{self._subject} had more than {self._processes} processes; start fewer"
        used = sum(resident_bytes(pid) for pid in members) if self._memory else 0
        if used > self._memory:
            return (
                f"{self._subject} used {used / (1 << 30):.1f} GiB of memory, "
                f"{self._memory / (1 << 30):.1f} GiB are allowed; use less, or raise --memory"
            )
        total, available = machine_memory()
        if available < total // _MACHINE_SHARE:
            return f"{self._subject} left {available >> 20} MiB of the machine's memory; use less"
        free, inodes = self._free()
        if free < self._disk_floor or inodes < self._inode_floor:
            return f"{self._subject} left {free >> 20} MiB and {inodes} files on its scratch disk; write less"
        return ""

    def _free(self) -> tuple[int, int]:
        """Free bytes and inodes. A file system that does not count inodes has no limit."""
        status = os.statvfs(self._scratch)
        return status.f_bavail * status.f_frsize, status.f_favail if status.f_files else 1 << 40
