"""Turns on a GPU: times are measured alone, and other work of grades is done together.

A turn is a lock (flock) on a file of the GPU. The kernel releases it when its process ends, in whatever way. A process
that waits for a turn alone announces that by a second lock. No other work begins meanwhile, because work that is done
together could keep out a measurement for ever. That work sees the announcement, and steps aside. Its processes are
stopped then, but their kernels may go on, so a turn alone begins when the GPU is quiet.

The locks keep apart those who ask for them. They do not stop a program that uses the GPU without asking, or that holds
a lock on purpose (docs/threat-model.md).
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..errors import BenchguardError
from ..ipc.lock_file import is_at, lock_folder, open_lock, try_lock
from .quiet import wait_until_quiet

POLL_SECONDS = 0.02
WAIT_SECONDS, WAIT_SECONDS_MAX = 600.0, 1e6
WAITING = "waiting for the GPU"
"""The phase of a wait, in progress and in results."""

WAIT_WORTH_A_NOTE = 0.1
"""Seconds."""
HOLDERS_MAX = 4

QUIET_SECONDS, RETRY_SECONDS = 1.5, 2.5
"""Time for the GPU to end what stopped processes have given it, and time in which they go on if it does not. A
submission that never lets the GPU rest so works for most of the time, and its time-out comes."""

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
                waiting = _Waiting(Files(self._folder, gpu), deadline, self._seconds, on_wait, look)
                waiting.lock_alone(held) if kind == "alone" else waiting.lock_together(held)
                on_wait = waiting.on_wait
        finally:
            self.waited += time.monotonic() - began

    def is_announced(self) -> bool:
        """Whether a process waits for a turn alone on one of the GPUs at this moment."""
        return any(_is_locked(Files(self._folder, gpu).announced) for gpu in self.gpus)

    def note_pause(self, stack: ExitStack) -> None:
        """Let those who take a turn alone know, until `stack` ends, that stopped processes may have work on the GPU."""
        for gpu in self.gpus:
            while not _try(Files(self._folder, gpu).paused, "together", stack):
                time.sleep(POLL_SECONDS)


@dataclass(frozen=True)
class Files:
    """The files of a GPU's locks. `announced` is locked while a process waits for a turn alone, `paused` while
    processes with a context on the GPU are stopped, and `busy` while these go on because their kernels did."""

    folder: Path
    gpu: str

    @property
    def turn(self) -> Path:
        return self.folder / f"neutrino-{self.gpu}.lock"

    @property
    def announced(self) -> Path:
        return self.folder / f"neutrino-{self.gpu}.next"

    @property
    def paused(self) -> Path:
        return self.folder / f"neutrino-{self.gpu}.paused"

    @property
    def busy(self) -> Path:
        return self.folder / f"neutrino-{self.gpu}.busy"


class Turn:
    """A turn that a process has."""

    def __init__(self, turns: Turns, kind: Kind, held: ExitStack) -> None:
        self._turns, self._kind, self._held = turns, kind, held

    @property
    def gpus(self) -> Sequence[str]:
        return self._turns.gpus

    def is_wanted(self) -> bool:
        """Whether another process waits for a turn alone."""
        return self._turns.is_announced()

    def step_aside(self, began: float, look: Callable[[], None]) -> None:
        """Give the turn away, and wait for the next one. Calls `look` again and again during the wait.

        The wait counts from `began`, of the monotonic clock. Raises as Turns.take. There is no turn then.
        """
        with ExitStack() as paused:
            self._turns.note_pause(paused)
            self._held.close()
            self._turns._lock(self._kind, self._held, began, None, look)


class _Waiting:
    def __init__(
        self,
        files: Files,
        deadline: float,
        seconds: float,
        on_wait: Callable[[], None] | None,
        look: Callable[[], None] | None,
    ) -> None:
        self._files, self._deadline, self._seconds, self.on_wait = files, deadline, seconds, on_wait
        self._look = look

    def lock_together(self, stack: ExitStack) -> None:
        """Lock the GPU until `stack` ends, once no process waits for a turn alone."""
        files = self._files
        while True:
            if _is_locked(files.announced):
                self._wait(files.announced)
            elif _try(files.turn, "together", stack):
                return
            else:
                self._wait(files.turn)

    def lock_alone(self, stack: ExitStack) -> None:
        """Lock the GPU until `stack` ends, and wait until it is quiet if processes were stopped for that."""
        files = self._files
        while True:
            with ExitStack() as taken:
                with ExitStack() as announced:
                    while _is_locked(files.busy) or not _try(files.turn, "alone", taken):
                        self._announce(announced)
                        self._wait(files.turn)
                if not _is_paused(files) or wait_until_quiet([files.gpu], QUIET_SECONDS):
                    stack.enter_context(taken.pop_all())
                    return
                busy = ExitStack()  # locked before the turn ends, so that no other process takes it meanwhile
                _try(files.busy, "alone", busy)
            with busy:
                until = time.monotonic() + RETRY_SECONDS
                while time.monotonic() < until:
                    self._wait(files.turn)

    def _announce(self, announced: ExitStack) -> None:
        """Announce the wait, unless another process has. While the GPU is busy, take the announcement back."""
        if _is_locked(self._files.busy):
            announced.close()
        elif not _is_locked(self._files.announced):
            _try(self._files.announced, "alone", announced)

    def _wait(self, path: Path) -> None:
        if time.monotonic() >= self._deadline:
            others = ", ".join(map(str, _holders_at(path)))
            raise BusyError(
                f"GPU {self._files.gpu} is in use by {f'process {others}' if others else 'another grade'}, after a "
                f"wait of {self._seconds:g} s ({path}); wait longer with --wait-for-gpu, or use another GPU"
            )
        if self.on_wait is not None:
            self.on_wait()
            self.on_wait = None
        if self._look is not None:
            self._look()
        time.sleep(POLL_SECONDS)


def _try(path: Path, kind: Kind, stack: ExitStack) -> bool:
    """Lock the file at `path` until `stack` ends, if no other process keeps it from that."""
    descriptor = open_lock(path)
    kept = False
    try:
        operation = (fcntl.LOCK_EX if kind == "alone" else fcntl.LOCK_SH) | fcntl.LOCK_NB
        # Otherwise a cleaner of old files has removed it meanwhile.
        kept = try_lock(descriptor, operation) and is_at(descriptor, path)
    finally:
        if not kept:
            os.close(descriptor)
    if kept:
        stack.callback(os.close, descriptor)
    return kept


def _is_locked(path: Path) -> bool:
    """Whether a process has locked the file alone."""
    with ExitStack() as lock:
        return not _try(path, "together", lock)


def _is_paused(files: Files) -> bool:
    """Whether processes are stopped. Only the process that has the turn alone may ask: none is stopped meanwhile."""
    with ExitStack() as lock:
        return not _try(files.paused, "alone", lock)


def _holders_at(path: Path) -> list[int]:
    descriptor = open_lock(path)
    try:
        return holders(descriptor)
    finally:
        os.close(descriptor)


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
