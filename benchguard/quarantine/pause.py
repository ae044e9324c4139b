"""Stop the processes of a quarantine while another grade's replay has the GPU."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

from ..gpu.quiet import wait_until_quiet
from ..gpu.turns import Turn
from ..ipc.processes import is_stopped, kill_all, signal_all
from .group import Group

STOP_SECONDS = 1.0
"""Time for all threads to stop. A thread in a call of the kernel driver stops at the end of the call."""

QUIET_SECONDS = 2.0
"""Time for the GPU to end what the processes have given it."""

RETRY_SECONDS = 1.0
LOOK_SECONDS = 0.1
_POLL_SECONDS = 0.005

RESUMED = (
    "the submission went on while it was stopped for another grade's replay; remove timers that send SIGCONT"
)


class Pause:
    """A quarantine that steps aside for replays. Its processes keep their memory and their contexts meanwhile.

    A quarantine keeps its turn if its processes do not stop in time, or if the GPU goes on working: the replay waits.
    `excess` says why the processes were killed; empty if they were not.
    """

    def __init__(
        self, turn: Turn, members: Group, others_use_gpu: Callable[[], bool] = lambda: False
    ) -> None:
        """`others_use_gpu`: whether a program of this grade that is not stopped uses the GPU now."""
        self._turn, self._members, self._others_use_gpu = turn, members, others_use_gpu
        self._again = self._looked = 0.0
        self.excess = ""

    def look(self, keeper: int) -> float:
        """Step aside if a replay waits. Returns the seconds by which deadlines move.

        The processes stay stopped if an exception is raised. It may be BusyError.
        """
        began = time.monotonic()
        if began < self._again or not self._turn.is_wanted():
            return 0.0
        if self._others_use_gpu():
            return 0.0
        if not self._members.members(keeper):  # the keeper is about to start the first one, or all have ended
            return 0.0
        if not (self._stop(keeper) and wait_until_quiet(self._turn.gpus, QUIET_SECONDS)):
            self._resume(keeper)
            self._again = time.monotonic() + RETRY_SECONDS
            return 0.0
        self._turn.step_aside(began, lambda: self._watch(keeper))
        self._resume(keeper)
        return time.monotonic() - began

    def _stop(self, keeper: int) -> bool:
        """Stop all processes. Whether none can run: two looks in turn found nothing that runs."""
        until = time.monotonic() + STOP_SECONDS
        calm = 0
        while calm < 2 and time.monotonic() < until:
            running = self._running(keeper)
            signal_all(running, signal.SIGSTOP)
            calm = 0 if running else calm + 1
            time.sleep(_POLL_SECONDS)
        return calm == 2

    def _watch(self, keeper: int) -> None:
        """Kill processes that go on. A timer whose signal is SIGCONT makes them, and nothing that honest code does."""
        if time.monotonic() - self._looked < LOOK_SECONDS:
            return
        self._looked = time.monotonic()
        if running := self._running(keeper):
            kill_all(running)
            self.excess = RESUMED

    def _resume(self, keeper: int) -> None:
        signal_all(self._members.members(keeper), signal.SIGCONT)

    def _running(self, keeper: int) -> list[int]:
        return [each for each in self._members.members(keeper) if not is_stopped(each)]
