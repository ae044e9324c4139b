"""SIGINT, SIGTERM and SIGHUP end a command: its processes and temporary files go with it.

A signal raises an exception at any instruction. CPython prints and drops an exception that a `__del__` method or a
callback raises, and C code may drop others. Or the exception leaves a lock taken, and the clean-up waits for this lock.
So a timer looks after the first signal whether the exception is still on its way. If not, it raises the exception
again, and it ends a clean-up that hangs.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType

from ..exit_status import INTERRUPTED
from ..ipc.processes import kill_all, with_descendants
from .output import notify

TERMINATING = (signal.SIGTERM, signal.SIGHUP)

LOOK_SECONDS = 1.0
CLEAN_UP_SECONDS = 25.0
"""The sandboxes of one grade may take several times 3 s to end (quarantine/attend.py)."""

_ON_THE_WAY = KeyboardInterrupt, GeneratorExit
"""Exceptions that show that clean-up code runs. A generator that an exception drops ends by GeneratorExit."""

_PACKAGE = str(Path(__file__).resolve().parents[1])


class Terminated(KeyboardInterrupt):
    """Raised by a terminating signal. Code that cleans up after Ctrl-C cleans up after this, too."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.strsignal(number))
        self.number = number


def raise_on_termination() -> None:
    """Turn terminating signals into exceptions, except those that our parent ignores, as nohup does with SIGHUP."""
    for number in (*TERMINATING, signal.SIGINT):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _raise)


def interrupted_status(error: BaseException) -> int | None:
    """The exit status if an interrupt caused `error`, else None: 128 + n for signal n, as a shell reports it."""
    for each in _causes(error):
        if isinstance(each, KeyboardInterrupt):
            return 128 + each.number if isinstance(each, Terminated) else INTERRUPTED
    return None


def end_watch() -> None:
    """Call this when the clean-up is done: nothing handles the exception from then on."""
    signal.setitimer(signal.ITIMER_REAL, 0)


def _raise(number: int, _: FrameType | None) -> None:
    for each in TERMINATING:
        signal.signal(each, signal.SIG_IGN)  # a second signal must not interrupt the clean-up
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a second Ctrl-C may
    signal.signal(signal.SIGALRM, _Watch(number).look)
    signal.setitimer(signal.ITIMER_REAL, LOOK_SECONDS, LOOK_SECONDS)
    raise _interrupt(number)


def _interrupt(number: int) -> KeyboardInterrupt:
    """subprocess lets a command that got Ctrl-C from the terminal, too, go on; it knows this exact class."""
    return KeyboardInterrupt() if number == signal.SIGINT else Terminated(number)


class _Watch:
    """Looks after an exception. Its handler runs also while the main thread waits for a lock."""

    def __init__(self, number: int) -> None:
        self._number, self._until = number, time.monotonic() + CLEAN_UP_SECONDS

    def look(self, _: int, frame: FrameType | None) -> None:
        handled = sys.exc_info()[1]
        if handled is None or not any(isinstance(each, _ON_THE_WAY) for each in _causes(handled)):
            raise _interrupt(self._number)
        if time.monotonic() > self._until:
            kill_all(with_descendants(os.getpid())[1:])
            with suppress(OSError):
                notify(
                    f"error: the clean-up after {signal.Signals(self._number).name} did not end within "
                    f"{CLEAN_UP_SECONDS:g} s, at {_place(frame)}; look for files named neutrino-* in the folder "
                    "for temporary files"
                )
            os._exit(128 + self._number)


def _causes(error: BaseException) -> list[BaseException]:
    """An exception, and those during whose handling it was raised."""
    found: list[BaseException] = []
    todo: list[BaseException | None] = [error]
    while todo:
        each = todo.pop()
        if each is not None and each not in found:
            found.append(each)
            todo += [each.__context__, each.__cause__]
    return found


def _place(frame: FrameType | None) -> str:
    """The innermost line of this package that runs."""
    while frame is not None and frame.f_back is not None:
        if frame.f_code.co_filename.startswith(_PACKAGE):
            break
        frame = frame.f_back
    return "an unknown place" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
