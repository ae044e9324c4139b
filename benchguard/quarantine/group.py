"""Find and kill the processes of one quarantine: the keeper's descendants, and those in its cgroup if there is one."""

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
    """A context manager, which removes the cgroup at the end."""

    def __init__(self, processes: int) -> None:
        self.cgroup = _make_cgroup(processes)
        self._before = _children()

    def leave_out(self, keeper: int) -> None:
        """Take no notice of another group's keeper, which was started after this group was made.

        It may look like an orphan of this group's: in a container without new privileges every process does.
        """
        self._before.add(keeper)

    def __enter__(self) -> Group:
        return self

    def __exit__(self, *_: object) -> None:
        if self.cgroup is not None:
            with contextlib.suppress(OSError):
                self.cgroup.rmdir()

    def members(self, keeper: int) -> list[int]:
        """The living processes, without the keeper, including orphans of a keeper that was killed."""
        table = list(processes())
        orphans = _Orphans(self._before | {keeper}, self._in_cgroup())
        roots = [keeper]
        if process_start(keeper) is None:
            roots += [process.pid for process in table if orphans(process)]
        others = {*orphans.grouped, *descendants(roots, table)} - {keeper}
        return [process.pid for process in table if process.pid in others and not process.ended]

    def end(self, keeper: int) -> tuple[int, ...]:
        """Kill the remaining processes and return those that survive. Call it when the keeper has ended.

        The keeper's children are children of this process by then.
        """
        until = time.monotonic() + GRACE_SECONDS
        while True:
            if self.cgroup is not None:
                with contextlib.suppress(OSError):
                    (self.cgroup / "cgroup.kill").write_text("1")
            orphans = _Orphans(self._before | {keeper}, self._in_cgroup())
            has_killed = kill_descendants([keeper], until, orphans)
            _reap(orphans.ended)
            if not has_killed:
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
    """Ask the keeper to kill all of its processes."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(keeper, signal.SIGTERM)


class _Orphans:
    """Recognises processes that became our children because their keeper was killed, and members of the cgroup."""

    def __init__(self, others: Collection[int], grouped: Collection[int]) -> None:
        self._ours, self._others = os.getpid(), others
        self.grouped = frozenset(grouped)
        self.ended: list[int] = []

    def __call__(self, process: Process) -> bool:
        if process.parent != self._ours or process.pid in self._others:
            return process.pid in self.grouped
        if _is_in_our_session(process.pid) or not _has_no_new_privileges(process.pid):
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


def _is_in_our_session(pid: int) -> bool:
    """Whether it is a worker of ours: the quarantine has sessions of its own, and no process can join another one."""
    with contextlib.suppress(ProcessLookupError):
        return os.getsid(pid) == os.getsid(0)
    return False


def _has_no_new_privileges(pid: int) -> bool:
    """Whether no_new_privs is set. All processes of a quarantine have it for good; few other processes do."""
    with contextlib.suppress(OSError):
        return b"\nNoNewPrivs:\t1" in Path(f"/proc/{pid}/status").read_bytes()
    return False


def _make_cgroup(processes: int) -> Path | None:
    """Make a cgroup beneath our own (cgroups(7), version 2); None without permission, as in most containers."""
    try:
        mounts = Path("/proc/self/mounts").read_text().splitlines()
        root = next(words[1] for words in map(str.split, mounts) if words[2] == "cgroup2")
        own = next(
            line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line[:3] == "0::"
        )
        folder = Path(root) / own.lstrip("/") / f"neutrino-{secrets.token_hex(8)}"
        folder.mkdir()
    except (OSError, StopIteration, IndexError):
        return None
    with contextlib.suppress(OSError):  # pids.max exists if the controller is enabled
        if (folder / "pids.max").exists():
            (folder / "pids.max").write_text(str(processes))
    return folder
