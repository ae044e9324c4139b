"""Turns on a GPU: times are measured alone, and other work of grades is done together.

A turn is a lock (flock) on a file of the GPU. The kernel releases it when its process ends, in whatever way. A process
that waits for a turn holds a second lock, and nobody begins to wait meanwhile: otherwise work that is done together
would keep out a measurement for ever. Work that is done together can see that a measurement waits, and step aside.

The lock keeps apart those who ask for it. It does not stop a program that uses the GPU without asking, or that holds
the lock on purpose (docs/threat-model.md).
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Literal

from ..errors import BenchguardError
from ..ipc.lock_file import is_at, lock_folder, open_lock, try_lock

POLL_SECONDS = 0.02
WAIT_SECONDS, WAIT_SECONDS_MAX = 600.0, 1e6
WAITING = "waiting for the GPU"
"""The phase of a wait, in progress and in results."""

WAIT_WORTH_A_NOTE = 0.1
"""Seconds."""
HOLDERS_MAX = 4

Kind = Literal["alone", "together"]


class BusyError(BenchguardError):
    """The GPU was in use for too long. This is not a verdict on a submission."""


class Turns:
    """The turns of one grade or replay on `gpus`, whose names are GPU UUIDs. Without names nothing is locked.

    `seconds` limits all waits together. `waited` has their seconds, by which deadlines move.
    """

    def __init__(self, gpus: Sequence[str], seconds: float, folder: Path | None = None) -> None:
        self._folder = (folder or lock_folder()) if gpus else Path()
        self.gpus = sorted(
            set(gpus)
        )  # all processes lock in this order, so none waits for another in a circle
        self._seconds = seconds
        self.waited = 0.0

    @contextmanager
    def take(self, kind: Kind, on_wait: Callable[[], None] | None = None) -> Iterator[Turn]:
        """Wait for a turn, and keep it for the context. Calls `on_wait` before a wait.

        Raises BusyError after `seconds`, and BenchguardError for a lock file that cannot be used.
        """
        with ExitStack() as held:
            self._lock(kind, held, time.monotonic(), on_wait)
            yield Turn(self, kind, held)

    def _lock(
        self,
        kind: Kind,
        held: ExitStack,
        began: float,
        on_wait: Callable[[], None] | None,
        look: Callable[[], None] | None = None,
    ) -> None:
        deadline = began + max(0.0, self._seconds - self.waited)
        try:
            for gpu in self.gpus:
                waiting = _Waiting(gpu, deadline, self._seconds, on_wait, look)
                with ExitStack() as queue:
                    waiting.lock(self._queue_of(gpu), "alone", queue)
                    waiting.lock(self._folder / f"neutrino-{gpu}.lock", kind, held)
                    on_wait = waiting.on_wait
        finally:
            self.waited += time.monotonic() - began

    def _queue_of(self, gpu: str) -> Path:
        return self._folder / f"neutrino-{gpu}.next"

    def is_queued(self) -> bool:
        """Whether a process waits for a turn on one of the GPUs at this moment."""
        for gpu in self.gpus:
            descriptor = open_lock(self._queue_of(gpu))
            try:
                if not try_lock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB):
                    return True
            finally:
                os.close(descriptor)
        return False


class Turn:
    """A turn that a process has."""

    def __init__(self, turns: Turns, kind: Kind, held: ExitStack) -> None:
        self._turns, self._kind, self._held = turns, kind, held

    @property
    def gpus(self) -> Sequence[str]:
        return self._turns.gpus

    def is_wanted(self) -> bool:
        """Whether another process waits for this one. Those that are together wait for nobody but one alone."""
        return self._turns.is_queued()

    def step_aside(self, began: float, look: Callable[[], None]) -> None:
        """Give the turn away, and wait for the next one. Calls `look` again and again during the wait.

        The wait counts from `began`, of the monotonic clock. Raises as Turns.take. There is no turn then.
        """
        self._held.close()
        self._turns._lock(self._kind, self._held, began, None, look)


class _Waiting:
    def __init__(
        self,
        gpu: str,
        deadline: float,
        seconds: float,
        on_wait: Callable[[], None] | None,
        look: Callable[[], None] | None,
    ) -> None:
        self._gpu, self._deadline, self._seconds, self.on_wait = gpu, deadline, seconds, on_wait
        self._look = look

    def lock(self, path: Path, kind: Kind, stack: ExitStack) -> None:
        """Lock the file at `path` until `stack` ends."""
        operation = (fcntl.LOCK_EX if kind == "alone" else fcntl.LOCK_SH) | fcntl.LOCK_NB
        while True:
            descriptor = open_lock(path)
            kept = False
            try:
                while not try_lock(descriptor, operation):
                    self._wait(descriptor, path)
                kept = is_at(descriptor, path)  # else a cleaner of old files has removed it meanwhile
            finally:
                if not kept:
                    os.close(descriptor)
            if kept:
                stack.callback(os.close, descriptor)
                return

    def _wait(self, descriptor: int, path: Path) -> None:
        if time.monotonic() >= self._deadline:
            others = ", ".join(map(str, holders(descriptor)))
            raise BusyError(
                f"GPU {self._gpu} is in use by {f'process {others}' if others else 'another grade'}, after a wait of "
                f"{self._seconds:g} s ({path}); wait longer with --wait-for-gpu, or use another GPU"
            )
        if self.on_wait is not None:
            self.on_wait()
            self.on_wait = None
        if self._look is not None:
            self._look()
        time.sleep(POLL_SECONDS)


def holders(descriptor: int) -> list[int]:
    """Processes that hold a lock on the file, as far as this process may see them."""
    entry = os.fstat(descriptor)
    file = f"{os.major(entry.st_dev):02x}:{os.minor(entry.st_dev):02x}:{entry.st_ino}"
    try:
        lines = Path("/proc/locks").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []
    rows = [line.split() for line in lines]  # 1: FLOCK ADVISORY WRITE PID MAJOR:MINOR:INODE 0 EOF
    found = [row[4] for row in rows if len(row) > 5 and row[1] == "FLOCK" and row[5] == file]
    return sorted({int(each) for each in found if each.isdecimal() and each != "0"})[:HOLDERS_MAX]
