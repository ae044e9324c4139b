"""What a quarantine may take of the machine, looked at from outside ten times a second."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

_KIB = 1024
_MACHINE_SHARE = 32
"""Of the machine's memory, this part at least stays free: memory in files and in memfds is in no process's count."""
_DISK_FLOOR = 1 << 30
_INODE_FLOOR = 10_000


class Watch:
    """`memory_bytes` 0: no limit but the machine's."""

    def __init__(self, memory_bytes: int, processes: int, scratch: Path) -> None:
        self._memory, self._processes, self._scratch = memory_bytes, processes, scratch
        free, inodes = self._free()
        self._disk_floor = min(_DISK_FLOOR, free // 4)
        self._inode_floor = min(_INODE_FLOOR, inodes // 4)

    def look(self, members: Sequence[int]) -> str:
        """Why they have to be ended; empty if they need not."""
        if len(members) > self._processes:
            return f"it had more than {self._processes} processes; start fewer"
        used = sum(resident_bytes(pid) for pid in members) if self._memory else 0
        if used > self._memory:
            return (
                f"it used {used / (1 << 30):.1f} GiB of memory, {self._memory / (1 << 30):.1f} GiB are allowed; "
                "use less, or raise --memory"
            )
        total, available = machine_memory()
        if available < total // _MACHINE_SHARE:
            return f"the machine had {available >> 20} MiB of memory left; use less"
        free, inodes = self._free()
        if free < self._disk_floor or inodes < self._inode_floor:
            return f"the disk of its scratch folder had {free >> 20} MiB and {inodes} files left; write less"
        return ""

    def _free(self) -> tuple[int, int]:
        """Bytes and inodes; a file system that does not count those has enough."""
        found = os.statvfs(self._scratch)
        return found.f_bavail * found.f_frsize, found.f_favail if found.f_files else 1 << 40


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
    """Bytes there are and bytes there are left."""
    fields = dict(
        line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines() if ":" in line
    )
    return _kib(fields["MemTotal"].encode()), _kib(fields.get("MemAvailable", fields["MemFree"]).encode())


def _kib(text: bytes) -> int:
    words = text.split()
    return int(words[0]) * _KIB if words and words[0].isdigit() else 0
