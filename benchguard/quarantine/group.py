"""The processes of one quarantine, as the supervisor sees them: the keeper's, in a cgroup where one can be made."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import time
from pathlib import Path

from ..audit.processes import kill_all, process_start, with_descendants

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
        found = set(self._in_cgroup())
        found.update(with_descendants(keeper)[1:])
        if process_start(keeper) is None:
            for orphan in _children() - self._before - {keeper}:
                if _has_no_new_privileges(orphan):
                    found.update(with_descendants(orphan))
        return sorted(pid for pid in found - {keeper} if process_start(pid) is not None)

    def end(self, keeper: int) -> tuple[int, ...]:
        """Kill what is left when the keeper has ended, and say what would not go."""
        until = time.monotonic() + GRACE_SECONDS
        while True:
            if self.cgroup is not None:
                with contextlib.suppress(OSError):
                    (self.cgroup / "cgroup.kill").write_text("1")
            living = self.members(keeper)
            if not living or time.monotonic() > until:
                return tuple(living)
            with contextlib.suppress(PermissionError):
                kill_all(living)
            _reap(living)
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


def _reap(pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


def _children() -> set[int]:
    ours = str(os.getpid()).encode()
    found = set()
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (place / "stat").read_bytes().rpartition(b")")[2].split()[1] == ours:
                found.add(int(place.name))
    return found


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
