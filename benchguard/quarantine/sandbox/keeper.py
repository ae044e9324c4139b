"""The parent of the quarantined process. It adopts that process's orphans, and kills them all at the end.

The keeper holds no secrets and only waits. The supervisor cannot do this itself: its children include the judge and
processes of its caller, which must not be killed.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from types import FrameType

from ...ipc import libc
from ...ipc.processes import end_with, kill_descendants

END_SECONDS = 10.0
"""A process with many gigabytes takes seconds to end, more so on a busy machine. The supervisor may end this sooner."""

STATUS_LEFT = 125
"""Exit status if a process survived SIGKILL."""

STATUS_CHILD = 126
"""Exit status instead of STATUS_LEFT if that is the child's own."""


def prepare(supervisor: int) -> None:
    """Install the signal handler and adopt orphans. Call it before the fork. Raises OSError."""
    signal.signal(signal.SIGTERM, _end)
    end_with(supervisor, signal.SIGTERM)
    libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1)


def keep(child: int, user: int | None) -> None:
    """Wait for the child, kill the processes that it left, and exit with its status: 128 + n for signal n."""
    status = 128 + signal.SIGKILL
    try:
        os.closerange(0, _highest())
        status = _wait(child)
        if status == STATUS_LEFT:
            status = STATUS_CHILD
    finally:
        survivors = True
        try:
            survivors = end_all(user)
        finally:
            os._exit(STATUS_LEFT if survivors else status)


def end_all(user: int | None) -> bool:
    """Kill all descendants of this process; return whether any survives.

    If only the quarantine runs as `user`, the kernel kills all of that user's processes at once, so that they cannot
    start others meanwhile.
    """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    until = time.monotonic() + END_SECONDS
    while True:
        if user is not None:
            _kill_user(user)
        has_killed = kill_descendants([os.getpid()], until, lambda _: False)
        _reap()
        if not has_killed:
            return False
        if time.monotonic() > until:
            return True
        time.sleep(0.001)


def _end(*_: int | FrameType | None) -> None:
    raise SystemExit


def _wait(child: int) -> int:
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return 128 - code if code < 0 else code


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _kill_user(user: int) -> None:
    helper = os.fork()
    if helper == 0:
        try:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            os.kill(-1, signal.SIGKILL)  # all processes that this user may signal, except the caller
        finally:
            os._exit(0)
    os.waitpid(helper, 0)


def _highest() -> int:
    return max((int(each.name) for each in Path("/proc/self/fd").iterdir()), default=0) + 1
