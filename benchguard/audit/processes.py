"""Processes by what /proc says of them."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path


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


def kill_all(pids: list[int]) -> None:
    """SIGKILL, each; one that is gone already is no error."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
