"""Replay processes that follow each other: the next one starts while one replays."""

from __future__ import annotations

from contextlib import ExitStack, suppress

from ..errors import BenchguardError
from ..quarantine.start import Sandbox
from .confined import WaitingReplay
from .target import Target


class Relay:
    """A context manager. `this` is the process that replays next.

    With `ahead` the next process starts Python and its sandbox during a replay, and makes its context while the process
    of the replay ends. None: not on the CPU driver, where a replay needs the processors for its kernels.
    """

    def __init__(
        self, target: Target, device: int, sandbox: Sandbox, ahead: bool | None = None, processes: int = 1
    ) -> None:
        """`processes`: the most in which a replay takes its samples."""
        self.this, self._other = (WaitingReplay(target, device, sandbox, processes) for _ in range(2))
        self._ahead = not target.driver.is_sim if ahead is None else ahead
        self._stack = ExitStack()

    def __enter__(self) -> Relay:
        self._stack.enter_context(self.this)
        self._stack.enter_context(self._other)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def take(self, following: int = 0) -> WaitingReplay:
        """The process for a replay. Another one with `following` processes comes after it; 0: none does."""
        taken, self.this, self._other = self.this, self._other, self.this
        taken.following = None
        self.this.wanted = following
        if self._ahead and following:
            with suppress(BenchguardError):  # it then starts with its replay
                self.this.start()
                taken.leave_out(self.this)
            taken.following = self.this
        return taken

    def start(self) -> None:
        """Start the process that replays next, unless it waits already."""
        with suppress(BenchguardError):
            self.this.start()
