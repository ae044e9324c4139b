"""The processes of one quarantine, as the supervisor sees them: the keeper's, in a cgroup where one can be made."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import time
from collections.abc import Collection
from pathlib import Path

from ..ipc.processes import Process, descendants, kill_descendants, process_start, processes

GRACE_SECONDS = 2.0
_POLL_SECONDS = 0.005


class Group:
    """Use as a context manager: the cgroup is removed at its end."""

    def __init__(self, processes: int) -> None:
        self.cgroup = _make_cgroup(processes)
        self._before = _children()

    def __enter__(self) -> Group:
        return self

    def __exit__(self, *_: object) -> None:
        if self.cgroup is not None:
            with contextlib.suppress(OSError):
                self.cgroup.rmdir()

    def members(self, keeper: int) -> list[int]:
        """Living; the keeper is none of them. Also those that came to us because it was killed."""
        table = list(processes())
        orphans = _Orphans(self._before | {keeper}, self._in_cgroup())
        roots = [keeper]
        if process_start(keeper) is None:
            roots += [process.pid for process in table if orphans(process)]
        found = {*orphans.grouped, *descendants(roots, table)} - {keeper}
        return [process.pid for process in table if process.pid in found and not process.ended]

    def end(self, keeper: int) -> tuple[int, ...]:
        """Kill what is left when the keeper has ended, and say what would not go. What the keeper had is ours now."""
        until = time.monotonic() + GRACE_SECONDS
        while True:
            if self.cgroup is not None:
                with contextlib.suppress(OSError):
                    (self.cgroup / "cgroup.kill").write_text("1")
            orphans = _Orphans(self._before | {keeper}, self._in_cgroup())
            seen = kill_descendants([keeper], until, orphans)
            _reap(orphans.ended)
            if not seen:
                return ()
            if time.monotonic() > until:
                return tuple(self.members(keeper))
            time.sleep(_POLL_SECONDS)

    def _in_cgroup(self) -> list[int]:
        if self.cgroup is None:
            return []
        try:
            return [int(line) for line in (self.cgroup / "cgroup.procs").read_text().split()]
        except OSError:
            return []


def stop(keeper: int) -> None:
    """Ask the keeper to end everything."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(keeper, signal.SIGTERM)


class _Orphans:
    """Says which processes came to us because their keeper was killed, and which are in the cgroup without one."""

    def __init__(self, others: Collection[int], grouped: Collection[int]) -> None:
        self._ours, self._others = os.getpid(), others
        self.grouped = frozenset(grouped)
        self.ended: list[int] = []

    def __call__(self, process: Process) -> bool:
        if process.parent != self._ours or process.pid in self._others:
            return process.pid in self.grouped
        if not _has_no_new_privileges(process.pid):
            return False
        if process.ended:
            self.ended.append(process.pid)
        return True


def _reap(pids: Collection[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


def _children() -> set[int]:
    ours = os.getpid()
    return {process.pid for process in processes() if process.parent == ours}


def _has_no_new_privileges(pid: int) -> bool:
    """Which no process of a quarantine can get rid of, and few others have."""
    with contextlib.suppress(OSError):
        return b"\nNoNewPrivs:\t1" in Path(f"/proc/{pid}/status").read_bytes()
    return False


def _make_cgroup(processes: int) -> Path | None:
    """Beneath our own (cgroups(7), version 2); None where that may not be written, as in most containers."""
    try:
        mounts = Path("/proc/self/mounts").read_text().splitlines()
        root = next(words[1] for words in map(str.split, mounts) if words[2] == "cgroup2")
        own = next(
            line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line[:3] == "0::"
        )
        made = Path(root) / own.lstrip("/") / f"neutrino-{secrets.token_hex(8)}"
        made.mkdir()
    except (OSError, StopIteration, IndexError):
        return None
    with contextlib.suppress(OSError):  # where the controller is on
        if (made / "pids.max").exists():
            (made / "pids.max").write_text(str(processes))
    return made
