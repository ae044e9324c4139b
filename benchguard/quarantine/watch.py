"""Check a quarantine's use of memory, processes and disk from outside, ten times a second."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

_KIB = 1024
_MACHINE_SHARE = 32
"""1/32 of the machine's memory stays free. Memory in files and memfds is in no process's count, so this limits it."""
_DISK_FLOOR = 1 << 30
_INODE_FLOOR = 10_000


class Watch:
    """`memory_bytes` 0: only the machine's own limit."""

    def __init__(self, memory_bytes: int, processes: int, scratch: Path) -> None:
        self._memory, self._processes, self._scratch = memory_bytes, processes, scratch
        free, inodes = self._free()
        self._disk_floor = min(_DISK_FLOOR, free // 4)
        self._inode_floor = min(_INODE_FLOOR, inodes // 4)

    def look(self, members: Sequence[int]) -> str:
        """Why the processes must be killed; empty if they are within their limits."""
        if len(members) > self._processes:
            return f"the submission had more than {self._processes} processes; start fewer"
        used = sum(resident_bytes(pid) for pid in members) if self._memory else 0
        if used > self._memory:
            return (
                f"the submission used {used / (1 << 30):.1f} GiB of memory, "
                f"{self._memory / (1 << 30):.1f} GiB are allowed; use less, or raise --memory"
            )
        total, available = machine_memory()
        if available < total // _MACHINE_SHARE:
            return f"the submission left {available >> 20} MiB of the machine's memory; use less"
        free, inodes = self._free()
        if free < self._disk_floor or inodes < self._inode_floor:
            return f"the submission left {free >> 20} MiB and {inodes} files on its scratch disk; write less"
        return ""

    def _free(self) -> tuple[int, int]:
        """Free bytes and inodes. A file system that does not count inodes has no limit."""
        status = os.statvfs(self._scratch)
        return status.f_bavail * status.f_frsize, status.f_favail if status.f_files else 1 << 40


def resident_bytes(pid: int) -> int:
    """Memory that a process holds, without pages of files; 0 if the process has ended."""
    try:
        return resident_in(Path(f"/proc/{pid}/status").read_bytes())
    except OSError:
        return 0


def resident_in(status: bytes) -> int:
    """Anonymous and shared resident memory in the text of /proc/PID/status (proc(5))."""
    lines = status.splitlines()
    fields = {name: rest for name, _, rest in (line.partition(b":") for line in lines)}
    names = (b"RssAnon", b"RssShmem") if b"RssAnon" in fields else (b"VmRSS",)  # gVisor has the sum alone
    return sum(_kib(fields[name]) for name in names if name in fields)


def machine_memory() -> tuple[int, int]:
    """Total and available bytes."""
    fields = dict(
        line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines() if ":" in line
    )
    return _kib(fields["MemTotal"].encode()), _kib(fields.get("MemAvailable", fields["MemFree"]).encode())


def _kib(text: bytes) -> int:
    words = text.split()
    return int(words[0]) * _KIB if words and words[0].isdigit() else 0
