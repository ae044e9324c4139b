"""Find, protect and kill processes."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from . import libc

NICE = 5
"""A thread of a replay gets three times the time of such a process's thread. With more, a submission would get too
little on a machine that also runs programs of others."""

_ENDED, _STOPPED = (b"Z", b"X"), (b"T", b"t")
"""States of threads in /proc (proc_pid_stat(5))."""


@dataclass(frozen=True)
class Process:
    """An entry of /proc. `ended`: a zombie, which its parent has not waited for yet.

    A process whose first thread has ended while others run is shown as a zombie, too. It has not ended.
    """

    pid: int
    parent: int
    ended: bool
    start: int = 0
    """In clock ticks after boot."""


def read_process(pid: int) -> Process | None:
    """The fields of /proc/PID/stat; None if the process does not exist."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
        fields = text.rpartition(b")")[2].split()  # the command's name, in brackets, may contain anything
        ended = fields[0] in _ENDED and int(fields[17]) <= 1
        return Process(pid, int(fields[1]), ended, int(fields[19]))
    except (OSError, ValueError, IndexError):
        return None


def process_start(pid: int) -> int | None:
    """Start time in clock ticks after boot; None if the process does not exist or has ended."""
    process = read_process(pid)
    return None if process is None or process.ended else process.start


def is_stopped(pid: int) -> bool:
    """Whether no thread of the process can run before it gets SIGCONT; also if the process has ended."""
    try:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            state = (thread / "stat").read_bytes().rpartition(b")")[2].split()[0]
            if state not in _STOPPED and state not in _ENDED:
                return False
    except (FileNotFoundError, ProcessLookupError, IndexError):  # a thread has just ended: look again
        return process_start(pid) is None
    return True


def processes() -> Iterator[Process]:
    """All processes by ascending number; each entry is read when the iterator reaches it."""
    with os.scandir("/proc") as folders:
        names = [folder.name for folder in folders if folder.name.isdigit()]
    for name in names:
        process = read_process(int(name))
        if process is not None:
            yield process


@contextlib.contextmanager
def adopt_orphans() -> Iterator[None]:
    """Make this process the parent of all descendants whose own parents end, so that they can still be found."""
    with contextlib.suppress(OSError):
        libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 0)


def lower_priority() -> None:
    """Let replays of other grades have the processors before this process. An idle machine runs it as before."""
    with contextlib.suppress(OSError):
        os.nice(NICE)
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def end_with(parent: int, by: signal.Signals = signal.SIGKILL) -> None:
    """Have the kernel send this process `by` when its parent ends."""
    libc.prctl(libc.PR_SET_PDEATHSIG, by)
    if os.getppid() != parent:  # the parent ended before the request took effect
        os._exit(1)


def protect(parent: int) -> None:
    """Hide this process's memory and descriptors from other processes of its user, and end it with its parent.

    A process that is not dumpable cannot be read through /proc or traced.
    """
    libc.prctl(libc.PR_SET_DUMPABLE, 0)
    end_with(parent)


def living_descendants() -> tuple[int, ...]:
    """All descendants of this process that have not ended."""
    own = with_descendants(os.getpid())[1:]
    return tuple(sorted(pid for pid in own if process_start(pid) is not None))


def with_descendants(pid: int) -> list[int]:
    """A process and its descendants, parents first."""
    return descendants([pid], list(processes()))


def descendants(roots: Iterable[int], among: Iterable[Process]) -> list[int]:
    """`roots` and their descendants, parents first."""
    children: dict[int, list[int]] = {}
    for process in among:
        children.setdefault(process.parent, []).append(process.pid)
    processes = list(dict.fromkeys(roots))
    for parent in processes:
        processes.extend(children.get(parent, []))
    return processes


def kill_descendants(roots: Collection[int], until: float, is_member: Callable[[Process], bool]) -> bool:
    """Send SIGKILL to all descendants of `roots` and to all members; return whether one was alive.

    Each process is killed as soon as it is seen: a process that is killed only after a whole list has been made may
    have started another by then. Stops at `until` of the monotonic clock.
    """
    family, has_killed = set(roots), False
    for process in processes():
        if time.monotonic() > until:
            return True
        if process.pid not in family and (process.parent in family or is_member(process)):
            family.add(process.pid)
            if not process.ended:
                has_killed = True
                with contextlib.suppress(PermissionError):  # continue with the other processes
                    kill_all([process.pid])
    return has_killed


def kill_all(pids: Collection[int]) -> None:
    """Send SIGKILL to each process; ignore processes that have ended already."""
    signal_all(pids, signal.SIGKILL)


def signal_all(pids: Collection[int], number: signal.Signals) -> None:
    """Send a signal to each process; ignore processes that have ended already."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def wait_for_end(child: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait up to `seconds` for a child's end, and reap it; return whether it has ended.

    Popen.wait with a time-out polls, and is up to 0.05 s late.
    """
    if child.poll() is None:
        try:
            end = os.pidfd_open(child.pid)
        except OSError:  # Linux before 5.3, or another part of this process reaps all children
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(seconds)
        else:
            poll = select.poll()
            poll.register(end, select.POLLIN)
            poll.poll(1000 * seconds)
            os.close(end)
    return child.poll() is not None


def kill_group(leader: subprocess.Popen[bytes]) -> None:
    """Kill a child's process group, then reap the child: until then the system does not reuse its number."""
    if leader.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(leader.pid, signal.SIGKILL)
        leader.wait()
