"""Find child processes that the shim cannot observe, because they run without the environment that loads it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

POLL_SECONDS = 0.02
COST_FACTOR = 50
"""Ratio of a pause to the scan before it, so that scanning takes at most 2 % of one core."""
NAMED_MAX = 64
COMMAND_MAX = 200


class UnobservedWatch(threading.Thread):
    """A context manager that scans the environments of the command's processes.

    A process that ends between two scans is missed. Processes that use a GPU live longer: cuInit alone takes 100 ms.
    """

    def __init__(self, shim: Path, nonce: str, command_processes: Callable[[], tuple[int, ...]]) -> None:
        super().__init__(name="unobserved", daemon=True)
        self.found: dict[int, str] = {}
        """Command lines by process number."""
        self._shim, self._nonce = str(shim).encode(), nonce.encode()
        self._command_processes = command_processes
        self._leave = threading.Event()

    def __enter__(self) -> UnobservedWatch:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._leave.set()
        self.join()

    def run(self) -> None:
        pause = POLL_SECONDS
        while not self._leave.wait(pause):
            began = time.monotonic()
            for pid in self._command_processes():
                if pid not in self.found and len(self.found) < NAMED_MAX:
                    self._look(pid)
            pause = max(POLL_SECONDS, COST_FACTOR * (time.monotonic() - began))

    def _look(self, pid: int) -> None:
        """Whether the environment lacks the shim. It is empty in a starting or ending process."""
        try:
            if self._is_observed(pid):
                return
            command = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").replace(b"\0", b" ")
            if command and not self._is_observed(pid):
                self.found[pid] = command[:COMMAND_MAX].decode("utf-8", "backslashreplace")
        except OSError:
            return  # it has ended, or it is another user's

    def _is_observed(self, pid: int) -> bool:
        words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        preload = next((word for word in words if word.startswith(b"LD_PRELOAD=")), b"")
        return self._shim in preload and b"NEUTRINO_NONCE=" + self._nonce in words
