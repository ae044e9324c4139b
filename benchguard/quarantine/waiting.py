"""Start a confined program before its work is known.

Python, the program's modules and the sandbox take longer to start than much of the work. So the program starts while
the submission is compiled, and gets its work, with descriptors, on a socket.
"""

from __future__ import annotations

import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import TypeVar

from ..ipc.messages import ClosedError
from .confined import Ended, Program, Running
from .start import Sandbox
from .work import send_work

_SECONDS_MIN = 1.0
_Self = TypeVar("_Self", bound="Waiting")


class Waiting(ABC):
    """Base of such programs. A context manager, at whose end no process of the program lives.

    A program that has ended before it got its work was killed: by the submission, which may share its user, or for lack
    of memory. Another one is started then.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._stack = ExitStack()
        self._running: Running | None = None
        self._end: socket.socket | None = None

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    @abstractmethod
    def program(self, channel: int) -> AbstractContextManager[Program]:
        """The program, and what it needs while it runs. Its order has the socket `channel` among its descriptors."""

    @property
    def keeper(self) -> int:
        """The number of the program's first process; 0 before it starts."""
        return 0 if self._running is None else self._running.keeper

    def start(self) -> None:
        """Start the program, unless it waits already. Raises BenchguardError."""
        if self._running is not None and not self._running.has_ended():
            return
        self._stop()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._end = self._stack.enter_context(ours)
        with theirs:
            program = self._stack.enter_context(self.program(theirs.fileno()))
            self._running = self._stack.enter_context(Running(program, self._sandbox))

    def leave_out(self, other: Waiting) -> None:
        """Let `other` live when this program ends, although it was started later. As Group.leave_out()."""
        if self._running is not None:
            self._running.leave_out(other.keeper)

    @property
    def uses_gpu(self) -> bool:
        """Whether it uses the GPU now, so that no other program may measure."""
        return False

    def tell(self, message: bytes) -> None:
        """Send a message without descriptors to a program that waits."""
        if self._end is not None:
            self._send(message, (), _SECONDS_MIN)

    def hear(self, seconds: float) -> bool:
        """Wait for a byte of the program for at most `seconds`; return whether one came."""
        if self._end is None:
            return False
        self._end.settimeout(max(0.001, seconds))
        try:
            return len(self._end.recv(1)) == 1
        except OSError:
            return False

    def work(
        self,
        message: bytes,
        descriptors: Sequence[int],
        handle: Callable[[bytes], bool],
        deadline: float,
        memory_bytes: int | None = None,
    ) -> Ended:
        """Give the program its work, then attend it until it ends, as Running.attend(). Starts it if it does not wait.

        Its folder stays until it is started again, or until the end of the context. Raises BenchguardError.
        """
        self.start()
        if not self._send(message, descriptors, deadline - time.monotonic()):
            self._stop()
            self.start()
            self._send(message, descriptors, deadline - time.monotonic())
        assert self._running is not None and self._end is not None
        self._end.close()  # the program is hostile from now on
        return self._running.attend(handle, deadline, memory_bytes)

    def _send(self, message: bytes, descriptors: Sequence[int], seconds: float) -> bool:
        """Return whether the program is there to get the message. attend() ends a program that does not read it."""
        assert self._end is not None
        self._end.settimeout(max(seconds, _SECONDS_MIN))
        try:
            send_work(self._end, message, descriptors)
        except ClosedError:
            return False
        except TimeoutError:
            return True
        return True

    def _stop(self) -> None:
        self._running = self._end = None
        self._stack.close()
