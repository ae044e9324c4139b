"""Run a child process in its own process group, read its lines, and kill the whole group at the end.

Installs no signal handler and keeps no global state, so that it works in any thread of a notebook.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..errors import BenchguardError
from .lines import LineSplitter
from .memory import resident_bytes
from .processes import kill_group
from .text import describe_exit, last_line

READ_BYTES = 1 << 16
STDERR_BYTES = 4096
POLL_SECONDS = 0.05
"""Interval between checks that the child is alive: a process that it started may hold its pipes open."""

MEMORY_SECONDS = 0.1
"""Interval between looks at the child's memory, one read of a file in /proc."""

GRACE_SECONDS = 1.0
"""Time for the child to end by itself after its last line."""


@dataclass(frozen=True)
class Ended:
    """How the child ended.

    `status` is Popen's: negative for a signal. `trouble` says which line was invalid; it is empty if none was.
    `used_bytes` is the memory for which the child was killed, or 0. `excess` names another exceeded limit, and
    `refusal` says why the child's sandbox did not let it run; both are empty without one.
    """

    status: int
    timed_out: bool
    trouble: str
    stderr: str
    used_bytes: int = 0
    excess: str = ""
    refusal: str = ""

    def describe(self) -> str:
        """How the child ended, and the last line of its standard error."""
        return describe_exit(self.status, last_line(self.stderr))


def converse(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    stdin: int,
    descriptors: Sequence[int],
    deadline: float,
    handle: Callable[[bytes], bool],
    line_max: int,
    lines_max: int,
    memory_max: int = 0,
) -> Ended:
    """Run `command` until `deadline` of the monotonic clock, and call `handle` for each line that it writes.

    Two arguments are appended to the command: the descriptor to write lines to, and this process's number.

    `handle` returns whether to continue, and raises LineError for an invalid line. Lines longer than `line_max` bytes
    and lines after the first `lines_max` are invalid too. A child that holds more than `memory_max` bytes, if that is
    not 0, is killed. No process of the child's group survives this call, even
    if it is interrupted. Raises BenchguardError if the command cannot be started.
    """
    ours, theirs = os.pipe()
    try:
        child = subprocess.Popen(
            [*command, str(theirs), str(os.getpid())],
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=dict(environment),
            pass_fds=[theirs, *descriptors],
            start_new_session=True,
        )
    except OSError as error:
        os.close(ours)
        raise BenchguardError(f"cannot start {command[0]}: {error.strerror}") from error
    finally:
        os.close(theirs)
    try:
        return _listen(child, ours, deadline, LineSplitter(handle, line_max, lines_max), memory_max)
    finally:
        kill_group(child)
        os.close(ours)
        if child.stderr is not None:
            child.stderr.close()


def _listen(
    child: subprocess.Popen[bytes], lines: int, deadline: float, splitter: LineSplitter, memory_max: int
) -> Ended:
    assert child.stderr is not None
    errors = child.stderr.fileno()
    tail = b""
    with selectors.DefaultSelector() as selector:
        for descriptor in (lines, errors):
            os.set_blocking(descriptor, False)
            selector.register(descriptor, selectors.EVENT_READ)
        timed_out = over = False
        used, looked = 0, 0.0
        while not over and selector.get_map():
            ended = _has_ended(
                child
            )  # checked before reading, so that this round reads everything that it wrote
            ready = selector.select(0 if ended else max(0.0, min(POLL_SECONDS, deadline - time.monotonic())))
            for key, _ in ready:
                data = _read(key.fd)
                if data is None:
                    continue
                if not data:
                    selector.unregister(key.fd)
                elif key.fd == errors:
                    tail = (tail + data)[-STDERR_BYTES:]
                elif not splitter.feed(data):
                    over = True
            now = time.monotonic()
            if memory_max and now - looked > MEMORY_SECONDS:
                looked, used = now, resident_bytes(child.pid)
                over = over or used > memory_max
            if not over and now > deadline:
                timed_out = over = True
            over = over or (ended and not ready)
    excess = used if memory_max and used > memory_max else 0
    grace = 0.0 if timed_out or splitter.trouble or excess else GRACE_SECONDS
    status = _status(child, grace)
    tail = (tail + (_read(errors) or b""))[-STDERR_BYTES:]
    return Ended(status, timed_out, splitter.trouble, tail.decode("utf-8", "replace"), excess)


def _read(descriptor: int) -> bytes | None:
    """The next bytes; empty at the end of the pipe, None if no data is available yet."""
    try:
        return os.read(descriptor, READ_BYTES)
    except BlockingIOError:
        return None


def _has_ended(child: subprocess.Popen[bytes]) -> bool:
    """Whether the child has ended. Does not reap it."""
    if child.returncode is not None:
        return True
    try:
        return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:  # another part of this process reaps all children
        return True


def _status(child: subprocess.Popen[bytes], grace: float) -> int:
    until = time.monotonic() + grace
    while not _has_ended(child) and time.monotonic() < until:
        time.sleep(0.002)
    kill_group(child)
    return child.returncode
