"""What a process that knows the answers does first."""

from __future__ import annotations

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_PR_SET_DUMPABLE = 4


def protect(parent: int) -> None:
    """Not dumpable: a process of our user cannot read our memory, nor open our descriptors, through /proc. It ends
    with its parent."""
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    if os.getppid() != parent:  # it went before that was in force
        os._exit(1)
