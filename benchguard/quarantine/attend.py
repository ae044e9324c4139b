"""Read the events and output of a running quarantine, enforce its limits, and kill all of its processes."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable

from .. import exit_status
from ..ipc.deadline import Deadline
from ..ipc.lines import LineSplitter
from . import group
from .contract import EVENTS_MAX, LINE_MAX
from .group import Group
from .pause import Pause
from .watch import ShortageError, Watch

OUTPUT_BYTES = 1 << 16
WATCH_SECONDS = 0.1
END_SECONDS = 3.0
"""Time for the keeper to kill its processes."""
GRACE_SECONDS = 1.0
"""Time for the process to end by itself after its last event."""
_READ_BYTES = 1 << 16
_LEFT_MAX = 1 << 21
"""Limit for the last read of a pipe: pipes hold 1 MiB at most (pipe(7))."""
_POLL_SECONDS = 0.01


class Attendant:
    """audit.supervise calls this object with the keeper's process.

    `events` and `output` are the reading ends of pipes. `handle` gets each line of events, as in LineSplitter. When it
    returns False, the process has GRACE_SECONDS to end by itself. `deadline` moves by the time of each `pause`, and
    `paused` is called with it.
    """

    def __init__(
        self,
        events: int,
        output: int,
        deadline: Deadline,
        handle: Callable[[bytes], bool],
        watch: Watch,
        members: Group,
        line_max: int = LINE_MAX,
        lines_max: int = EVENTS_MAX,
        pause: Pause | None = None,
        paused: Callable[[float], None] = lambda _: None,
    ) -> None:
        self._events, self._output, self._deadline = events, output, deadline
        self._splitter = LineSplitter(handle, line_max, lines_max)
        self._watch, self._members, self._pause, self._paused = watch, members, pause, paused
        self._tail = b""
        self._watched = 0.0
        self._finished: float | None = None  # when `handle` wanted no more lines
        self.timed_out = False
        self.excess = ""
        """The exceeded limit, for the user; empty if none was."""

    @property
    def trouble(self) -> str:
        """Why an event was invalid; empty if none was."""
        return self._splitter.trouble

    @property
    def text(self) -> str:
        """The end of standard output and standard error."""
        return self._tail.decode("utf-8", "replace")

    def __call__(self, keeper: subprocess.Popen[bytes]) -> tuple[int, tuple[int, ...]]:
        """Wait until the quarantine ends or exceeds a limit; return its status and the processes that survived SIGKILL.

        The quarantine is killed even if waiting raises an exception. Raises ShortageError.
        """
        survivors: tuple[int, ...] = ()
        shortage: ShortageError | None = None
        try:
            self._listen(keeper)
        except ShortageError as error:
            shortage = error
        finally:
            status, survivors = self._end(keeper)
        if shortage is not None:
            self.excess = self._watch.blame()
            if not self.excess:
                raise shortage
        return (exit_status.TIMEOUT if self.timed_out else status), survivors

    def _listen(self, keeper: subprocess.Popen[bytes]) -> None:
        with selectors.DefaultSelector() as selector:
            for descriptor in (self._events, self._output):
                os.set_blocking(descriptor, False)
                selector.register(descriptor, selectors.EVENT_READ)
            ending = _descriptor_of(keeper.pid)
            if ending is not None:
                selector.register(ending, selectors.EVENT_READ)
            try:
                while keeper.poll() is None and not self._must_end(keeper.pid):
                    wait = _POLL_SECONDS if ending is None else WATCH_SECONDS
                    ready = selector.select(max(0.0, min(wait, self._deadline.left())))
                    for key, _ in ready:
                        if key.fd != ending and self._read(key.fd) == 0:
                            selector.unregister(key.fd)
            finally:
                if ending is not None:
                    os.close(ending)

    def _must_end(self, keeper: int) -> bool:
        now = time.monotonic()
        if self._finished is not None:
            return now > self._finished + GRACE_SECONDS
        if now > self._deadline.at:
            self.timed_out = True
        elif now - self._watched > WATCH_SECONDS:
            self._watched = now
            self.excess = self._watch.look(self._members.members(keeper)) or self._step_aside(keeper)
        return bool(self.timed_out or self.excess or self.trouble)

    def _step_aside(self, keeper: int) -> str:
        if self._pause is None:
            return ""
        seconds = self._pause.look(keeper)
        self._deadline.at += seconds
        self._paused(seconds)
        return self._pause.excess

    def _read(self, descriptor: int) -> int | None:
        """The number of bytes read; 0 at the end of the pipe, None if no data is available yet."""
        try:
            data = os.read(descriptor, _READ_BYTES)
        except BlockingIOError:
            return None
        if descriptor == self._output:
            self._tail = (self._tail + data)[-OUTPUT_BYTES:]
        elif not self.trouble and self._finished is None and not self._splitter.feed(data):
            self._finished = None if self.trouble else time.monotonic()
        return len(data)

    def _end(self, keeper: subprocess.Popen[bytes]) -> tuple[int, tuple[int, ...]]:
        if keeper.poll() is None:
            group.stop(keeper.pid)
            try:
                keeper.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                keeper.send_signal(signal.SIGKILL)
        members = self._members.end(keeper.pid)
        status = keeper.wait()
        for descriptor in (self._events, self._output):
            count = 0
            while count < _LEFT_MAX and (size := self._read(descriptor)):
                count += size
        return (128 - status if status < 0 else status), members


def _descriptor_of(pid: int) -> int | None:
    """A pidfd, which is readable when the process ends; None if the kernel has none."""
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None
