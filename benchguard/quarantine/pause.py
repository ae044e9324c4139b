"""Stop the processes of a quarantine while another grade's replay has the GPU.

Those that cannot use the GPU go on: compilers, and imports before the first context. Their priority is lower than that
of a replay (ipc/processes.py), and they are stopped, too, once they open a device or keep too many processors busy.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence

from ..gpu.quiet import CPU_DRIVER
from ..gpu.turns import Turn
from ..gpu.users import may_use_gpu, running_threads
from ..ipc.processes import is_stopped, kill_all, signal_all
from .group import Group

STOP_SECONDS = 1.0
"""Time for all threads to stop. A thread in a call of the kernel driver stops at the end of the call."""

RETRY_SECONDS = 1.0
LOOK_SECONDS = 0.1

RUNNING_MAX = max(2, len(os.sched_getaffinity(0)) // 2)
"""Threads that may run during a replay. A compilation runs one or two."""

_POLL_SECONDS = 0.005

RESUMED = (
    "the submission went on while it was stopped for another grade's replay; remove timers that send SIGCONT"
)


class Pause:
    """A quarantine that steps aside for replays. Its processes keep their memory and their contexts meanwhile.

    A quarantine keeps its turn if its processes do not stop in time, and gets it back if the GPU goes on working.
    `excess` says why the processes were killed; empty if they were not.
    """

    def __init__(
        self,
        turn: Turn,
        members: Group,
        exceeded: Callable[[Sequence[int]], str],
        others_use_gpu: Callable[[], bool] = lambda: False,
    ) -> None:
        """`exceeded`: the limit that processes exceed, or nothing. `others_use_gpu`: whether a program of this grade
        that is not stopped uses the GPU now."""
        self._turn, self._members = turn, members
        self._exceeded, self._others_use_gpu = exceeded, others_use_gpu
        self._again = self._looked = 0.0
        self._held: set[int] = set()  # processes that were seen to be stopped
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
        if not self._stop(keeper):
            self._resume(keeper)
            self._again = time.monotonic() + RETRY_SECONDS
            return 0.0
        self._turn.step_aside(began, lambda: self._watch(keeper))
        self._resume(keeper)
        return time.monotonic() - began

    def _stop(self, keeper: int) -> bool:
        """Stop the processes that may use the GPU. Whether none of them can run: two looks in turn found nothing."""
        until = time.monotonic() + STOP_SECONDS
        calm, self._held = 0, set()
        while calm < 2 and time.monotonic() < until:
            running = self._to_stop(self._running(keeper))
            signal_all(running, signal.SIGSTOP)
            calm = 0 if running else calm + 1
            time.sleep(_POLL_SECONDS)
        return calm == 2

    def _watch(self, keeper: int) -> None:
        """Stop processes that have come to use the GPU. Kill those that go on after they were stopped: a timer whose
        signal is SIGCONT makes them, and nothing that honest code does. Kill all if they exceed a limit."""
        if time.monotonic() - self._looked < LOOK_SECONDS:
            return
        self._looked = time.monotonic()
        running = self._running(keeper)
        if resumed := [each for each in running if each in self._held]:
            kill_all(resumed)
            self.excess = RESUMED
        members = self._members.members(keeper)
        if running and not self.excess and (exceeded := self._exceeded(members)):
            kill_all(members)
            self.excess = exceeded
        signal_all(self._to_stop(running), signal.SIGSTOP)

    def _resume(self, keeper: int) -> None:
        signal_all(self._members.members(keeper), signal.SIGCONT)

    def _running(self, keeper: int) -> list[int]:
        """The processes that can run. The others are stopped: add them to those that were seen to be."""
        running = []
        for each in self._members.members(keeper):
            if is_stopped(each):
                self._held.add(each)
            else:
                running.append(each)
        return running

    def _to_stop(self, running: Sequence[int]) -> list[int]:
        """Those of the processes that may disturb a measurement."""
        users = [each for each in running if self._may_use_gpu(each)]
        others = [each for each in running if each not in users]
        is_busy = sum(map(running_threads, others)) > RUNNING_MAX
        return [*users, *others] if is_busy else users

    def _may_use_gpu(self, pid: int) -> bool:
        """The CPU driver has no device file: each process that can run may use it."""
        return all(each == CPU_DRIVER for each in self._turn.gpus) or may_use_gpu(pid)
