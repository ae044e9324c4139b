"""Memory of processes and of the machine, as the kernel counts it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

_KIB = 1024


def resident_bytes(pid: int) -> int:
    """Memory that a process holds, without pages of files; 0 if the process has ended.

    The memory is read from any thread: the first one, whose entry is the process's, has none if it has ended.
    """
    for entry in _entries(pid):
        try:
            status = (entry / "status").read_bytes()
        except OSError:
            continue
        if found := resident_in(status):
            return found
    return 0


def _entries(pid: int) -> Iterator[Path]:
    process = Path(f"/proc/{pid}")
    yield process
    try:
        yield from (process / "task").iterdir()
    except OSError:
        return


def memfd_bytes(pids: Iterable[int]) -> int:
    """Memory in the anonymous files that processes hold open, mapped or not. Files of unreadable processes count 0."""
    sizes = {}
    for pid in pids:
        try:
            for entry in Path(f"/proc/{pid}/fd").iterdir():
                if entry.readlink().name.startswith("memfd:"):
                    status = entry.stat()
                    sizes[status.st_dev, status.st_ino] = status.st_blocks * 512
        except OSError:
            continue
    return sum(sizes.values())


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
