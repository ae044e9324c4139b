"""Processes by what /proc says of them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from collections.abc import Collection, Iterator
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36  # prctl(2)


def process_start(pid: int) -> int | None:
    """Start time of a process in clock ticks after boot; None if there is no such process, or it has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    fields = text[text.rfind(b")") + 2 :].split()
    dead = fields[:1] in ([b"Z"], [b"X"])
    return None if dead or len(fields) < 20 else int(fields[19])


@contextlib.contextmanager
def orphans_are_ours() -> Iterator[None]:
    """Processes whose parents end become children of this one, so that they can still be found."""
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(1))
    try:
        yield
    finally:
        libc.prctl(_PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(0))


def living_descendants(but: Collection[int | None]) -> tuple[int, ...]:
    """Everything this process started, directly or not, that has not ended."""
    own = with_descendants(os.getpid())[1:]
    return tuple(sorted(pid for pid in own if pid not in but and process_start(pid) is not None))


def with_descendants(pid: int) -> list[int]:
    """A process and everything it started that is still its descendant, parents first."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(folder.name))
    found = [pid]
    for parent in found:
        found.extend(children.get(parent, []))
    return found


def kill_all(pids: Collection[int]) -> None:
    """SIGKILL, each; one that is gone already is no error."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
