"""Which processes may use a GPU: those that have one of its device files open or mapped.

Work is given to a GPU by system calls on such a file, or through memory that is mapped from one. A process without
either must open the file first, and then takes a tenth of a second or more to make a context (0.23 s on an H200).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection
from pathlib import Path

HARMLESS = (1, 5, *range(136, 144))
"""Major numbers of /dev/null and its like, of /dev/tty and /dev/ptmx, and of terminals (Linux, devices.txt)."""

HARMLESS_MAPPINGS = (b"/dev/zero", b"/dev/shm/")


def may_use_gpu(pid: int, harmless: Collection[int] = HARMLESS) -> bool:
    """Whether a process has a character device open or mapped whose major number is not among `harmless`. Also true
    if this cannot be known, and false for a process that has ended."""
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())  # a thread may have descriptors of its own
        return any(_has_device_open(each / "fd", harmless) for each in threads) or _has_device_mapped(pid)
    except (FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}").exists()
    except OSError:
        return True


def running_threads(pid: int) -> int:
    """The number of a process's threads that run or wait for a processor."""
    try:
        states = [(each / "stat").read_bytes() for each in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return 0
    return sum(each.rpartition(b")")[2].split()[:1] == [b"R"] for each in states)


def _has_device_open(folder: Path, harmless: Collection[int]) -> bool:
    for link in folder.iterdir():
        try:
            found = link.stat()
        except FileNotFoundError:  # closed meanwhile
            continue
        if stat.S_ISCHR(found.st_mode) and os.major(found.st_rdev) not in harmless:
            return True
    return False


def _has_device_mapped(pid: int) -> bool:
    for line in Path(f"/proc/{pid}/maps").read_bytes().splitlines():
        path = line.split(None, 5)[5:]  # ADDRESSES PERMISSIONS OFFSET DEVICE INODE PATH
        if path and path[0].startswith(b"/dev/") and not path[0].startswith(HARMLESS_MAPPINGS):
            return True
    return False
