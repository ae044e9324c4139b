"""Memory of processes and of the machine, as the kernel counts it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

_KIB = 1024
_CGROUPS = Path("/sys/fs/cgroup")
_OWN_CGROUP = Path("/proc/self/cgroup")


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
    """Total and available bytes: of the machine, or of this process's cgroup and those around it, if these have less.

    Pages of files count as available, because the kernel takes them back.
    """
    fields = dict(
        line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines() if ":" in line
    )
    total = _kib(fields["MemTotal"].encode())
    available = _kib(fields.get("MemAvailable", fields["MemFree"]).encode())
    for limit, used in _cgroups():
        total, available = min(total, limit), min(available, max(0, limit - used))
    return total, available


def _cgroups() -> Iterator[tuple[int, int]]:
    """The limit and the use of memory of each cgroup (version 2) of this process that has a limit."""
    own = next((line[3:] for line in _text(_OWN_CGROUP).splitlines() if line.startswith("0::")), "/")
    folder = _CGROUPS / own.strip("/")
    for each in (folder, *folder.parents):
        limit, used = _text(each / "memory.max").strip(), _text(each / "memory.current").strip()
        if limit.isdigit() and used.isdigit():
            counts = dict(line.split(maxsplit=1) for line in _text(each / "memory.stat").splitlines())
            files = sum(int(counts.get(name, 0)) for name in ("inactive_file", "active_file"))
            yield int(limit), int(used) - files
        if each == _CGROUPS:
            return


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return ""


def _kib(text: bytes) -> int:
    words = text.split()
    return int(words[0]) * _KIB if words and words[0].isdigit() else 0
