"""Find programs that use the driver past the service, because their environment was cleaned."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ..ipc.processes import descendants, processes
from ..shim.interposer import Interposer

PAUSE_SECONDS = 0.5
COST_FACTOR = 50
"""Ratio of a pause to the scan before it, so that scanning takes at most 2 % of one core."""
NAMED_MAX = 64
COMMAND_MAX = 200


@dataclass
class Unobserved:
    """Looks at processes whose environment names the service's socket, and at their descendants.

    A process is reported if it has the driver in its memory, but not the shim. Processes that this user may not read,
    or that end between two scans, are missed.
    """

    socket: Path
    interposers: Iterable[Interposer]
    due: float = field(default_factory=time.monotonic)
    """Time of the next scan, by the monotonic clock."""
    found: dict[int, str] = field(default_factory=dict)
    """Command lines by process number."""

    def scan(self, own: Iterable[int]) -> dict[int, str]:
        """The processes that no earlier scan has found. `own` are the service's processes."""
        began = time.monotonic()
        everything = list(processes())
        skipped = set(descendants(own, everything))
        word = b"NEUTRINO_SERVE=" + bytes(self.socket)
        led = [each.pid for each in everything if word in _read(each.pid, "environ").split(b"\0")]
        new = {}
        for pid in descendants(led, everything):
            if (
                pid not in skipped | self.found.keys()
                and len(self.found) < NAMED_MAX
                and self._is_past_shim(pid)
            ):
                command = _read(pid, "cmdline").rstrip(b"\0").replace(b"\0", b" ")[:COMMAND_MAX]
                new[pid] = self.found[pid] = command.decode("utf-8", "backslashreplace")
        self.due = time.monotonic() + max(PAUSE_SECONDS, COST_FACTOR * (time.monotonic() - began))
        return new

    def _is_past_shim(self, pid: int) -> bool:
        maps = _read(pid, "maps")
        return any(
            bytes(each.driver) in maps
            and b"/" + each.shim.name.encode() not in maps.replace(bytes(each.driver), b"")
            for each in self.interposers
        )


def _read(pid: int, name: str) -> bytes:
    """A file of /proc/PID; empty if the process has ended or may not be read."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""
