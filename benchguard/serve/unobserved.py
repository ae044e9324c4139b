"""Find programs that use the driver past the service, because their environment was cleaned."""

from __future__ import annotations

import time
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ..ipc.processes import Process, descendants, processes
from ..shim.interposer import Interposer

PAUSE_SECONDS = 0.5
COST_FACTOR = 50
"""Ratio of a pause to the scan before it, so that scanning takes at most 2 % of one core."""
NAMED_MAX = 64
COMMAND_MAX = 200


@dataclass
class Unobserved:
    """Looks at processes whose environment names the service's socket, and at their descendants.

    A process is reported if two scans in a row find the driver in its memory, but not the shim: the list of a process's
    memory is incomplete while the process ends. Processes that this user may not read, or that end within two scans,
    are missed.
    """

    socket: Path
    interposers: Iterable[Interposer]
    due: float = field(default_factory=time.monotonic)
    """Time of the next scan, by the monotonic clock."""
    found: dict[int, str] = field(default_factory=dict)
    """Command lines by process number."""
    _suspects: set[Process] = field(default_factory=set)

    def scan(self, own: Iterable[int], recorded: Container[int]) -> dict[int, str]:
        """The processes that no earlier scan has found.

        `own` are the service's processes, `recorded` those that have a session.
        """
        began = time.monotonic()
        everything = {each.pid: each for each in processes()}
        self.found = {pid: command for pid, command in self.found.items() if pid in everything}
        skipped = set(descendants(own, everything.values()))
        word = b"NEUTRINO_SERVE=" + bytes(self.socket)
        led = [pid for pid in everything if word in _read(pid, "environ").split(b"\0")]
        suspects, new = set(), {}
        for pid in descendants(led, everything.values()):
            if pid in skipped | self.found.keys() or pid in recorded or not self._is_past_shim(pid):
                continue
            suspects.add(everything[pid])
            command = _read(pid, "cmdline").rstrip(b"\0").replace(b"\0", b" ")[:COMMAND_MAX]
            if everything[pid] in self._suspects and command and len(self.found) < NAMED_MAX:
                new[pid] = self.found[pid] = command.decode("utf-8", "backslashreplace")
        self._suspects = suspects
        self.due = time.monotonic() + max(PAUSE_SECONDS, COST_FACTOR * (time.monotonic() - began))
        return new

    def _is_past_shim(self, pid: int) -> bool:
        """Whether the process has a driver and no shim. The soname of a shim is its driver's, its folder another."""
        maps = _read(pid, "maps")
        return any(
            bytes(each.driver) in maps
            and b"/" + bytes(Path(each.shim.name)) not in maps.replace(bytes(each.driver), b"")
            for each in self.interposers
        )


def _read(pid: int, name: str) -> bytes:
    """A file of /proc/PID; empty if the process has ended or may not be read."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""
