"""SIGTERM and SIGHUP end a command the way Ctrl-C does: its processes and temporary files go with it."""

from __future__ import annotations

import signal
from types import FrameType

from ..exit_status import INTERRUPTED

TERMINATING = (signal.SIGTERM, signal.SIGHUP)


class Terminated(KeyboardInterrupt):
    """Raised by a terminating signal. Code that cleans up after Ctrl-C cleans up after this, too."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.strsignal(number))
        self.number = number


def raise_on_termination() -> None:
    """Turn terminating signals into exceptions, except those that our parent ignores, as nohup does with SIGHUP."""
    for number in TERMINATING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _raise)


def status_of(interrupt: BaseException | None) -> int:
    """128 + n for signal n, as a shell reports it."""
    return 128 + interrupt.number if isinstance(interrupt, Terminated) else INTERRUPTED


def _raise(number: int, _: FrameType | None) -> None:
    for each in TERMINATING:
        signal.signal(each, signal.SIG_IGN)  # a second signal must not interrupt the clean-up
    raise Terminated(number)
