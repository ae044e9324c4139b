"""Signals of processes that tests start."""

from __future__ import annotations

import signal

ENDING = [signal.SIGTERM, signal.SIGHUP, signal.SIGINT]


def take_signals() -> None:
    """Undo nohup's and a background job's SIG_IGN, which a command would respect. For `preexec_fn`."""
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)
