"""A child process in a group of its own, read line by line and ended with all that it started.

No signal is taken and nothing is global, so that this works in any thread of a notebook.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..errors import BenchguardError
from ..lines import LineError, Splitter
from .protocol import LINE_MAX, LINES_MAX

__all__ = ["Ended", "LineError", "converse", "end_group"]

READ_BYTES = 1 << 16
STDERR_BYTES = 4096
POLL_SECONDS = 0.05
"""How often it is looked whether the child lives: one that it started may hold its pipes open."""

GRACE_SECONDS = 1.0
"""For the child to end by itself after its last line."""


@dataclass(frozen=True)
class Ended:
    """`status` is Popen's: negative for a signal; `trouble` is what was wrong with its lines, if anything."""

    status: int
    timed_out: bool
    trouble: str
    stderr: str

    def last_words(self) -> str:
        """The last line of its standard error, or how it ended."""
        lines = [text for text in map(str.strip, self.stderr.splitlines()) if text]
        ended = f"exit status {self.status}" if self.status >= 0 else _signal_name(-self.status)
        return f"{ended}; it said: {lines[-1][:300]}" if lines else ended


def converse(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    stdin: int,
    descriptors: Sequence[int],
    deadline: float,
    handle: Callable[[bytes], bool],
) -> Ended:
    """Run `command` until `deadline` by the monotonic clock, and `handle` each of its lines.

    Two arguments are added: the descriptor to write lines to, and our process's number.

    `handle` says whether to go on; it raises LineError for a line that does not belong there. Whatever
    happens, also an exception or an interrupt here, no process of the child's group is left.
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
        raise BenchguardError(f"cannot start the replay process {command[0]}: {error.strerror}") from error
    finally:
        os.close(theirs)
    try:
        return _listen(child, ours, deadline, handle)
    finally:
        end_group(child)
        os.close(ours)
        if child.stderr is not None:
            child.stderr.close()


def end_group(child: subprocess.Popen[bytes]) -> None:
    """Kill the child's group, then reap the child: until then its number is nobody else's."""
    if child.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _listen(
    child: subprocess.Popen[bytes], lines: int, deadline: float, handle: Callable[[bytes], bool]
) -> Ended:
    assert child.stderr is not None
    errors = child.stderr.fileno()
    splitter = Splitter(handle, LINE_MAX, LINES_MAX)
    tail = b""
    with selectors.DefaultSelector() as selector:
        for descriptor in (lines, errors):
            os.set_blocking(descriptor, False)
            selector.register(descriptor, selectors.EVENT_READ)
        timed_out = over = False
        while not over and selector.get_map():
            ended = _has_ended(child)  # before reading: what it wrote until then is read in this round
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
            if not over and time.monotonic() > deadline:
                timed_out = over = True
            over = over or (ended and not ready)
    grace = 0.0 if timed_out or splitter.trouble else GRACE_SECONDS
    status = _status(child, grace)
    tail = (tail + (_read(errors) or b""))[-STDERR_BYTES:]
    return Ended(status, timed_out, splitter.trouble, tail.decode("utf-8", "replace"))


def _read(descriptor: int) -> bytes | None:
    """Empty at the end, None where there is nothing yet."""
    try:
        return os.read(descriptor, READ_BYTES)
    except BlockingIOError:
        return None


def _has_ended(child: subprocess.Popen[bytes]) -> bool:
    """Without reaping it."""
    if child.returncode is not None:
        return True
    try:
        return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:  # somebody here reaps every child there is
        return True


def _status(child: subprocess.Popen[bytes], grace: float) -> int:
    until = time.monotonic() + grace
    while not _has_ended(child) and time.monotonic() < until:
        time.sleep(0.002)
    end_group(child)
    return child.returncode


def _signal_name(number: int) -> str:
    try:
        return f"killed by {signal.Signals(number).name}"
    except ValueError:
        return f"killed by signal {number}"
