"""Processes by what /proc says of them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36  # prctl(2)


def process_start(pid: int) -> int | None:
    """Start time of a process in clock ticks after boot; None if there is no such process, or it has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    fields = text[text.rfind(b")") + 2 :].split()
    dead = fields[:1] in ([b"Z"], [b"X"])
    return None if dead or len(fields) < 20 else int(fields[19])


@contextlib.contextmanager
def orphans_are_ours() -> Iterator[None]:
    """Processes whose parents end become children of this one, so that they can still be found."""
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(1))
    try:
        yield
    finally:
        libc.prctl(_PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(0))


@dataclass(frozen=True)
class Process:
    """What /proc/PID/stat says; `ended` is one that nobody has waited for yet."""

    pid: int
    parent: int
    ended: bool


def processes() -> Iterator[Process]:
    """All there are, by their numbers, each read when it is asked for."""
    with os.scandir("/proc") as folders:
        names = [folder.name for folder in folders if folder.name.isdigit()]
    for name in names:
        try:
            state, parent = Path(f"/proc/{name}/stat").read_bytes().rpartition(b")")[2].split()[:2]
        except (OSError, ValueError):
            continue
        yield Process(int(name), int(parent), state in (b"Z", b"X"))


def living_descendants(but: Collection[int | None]) -> tuple[int, ...]:
    """Everything this process started, directly or not, that has not ended."""
    own = with_descendants(os.getpid())[1:]
    return tuple(sorted(pid for pid in own if pid not in but and process_start(pid) is not None))


def with_descendants(pid: int) -> list[int]:
    """A process and everything it started that is still its descendant, parents first."""
    return descendants([pid], list(processes()))


def descendants(roots: Iterable[int], among: Iterable[Process]) -> list[int]:
    """Those processes and everything they started, parents first."""
    children: dict[int, list[int]] = {}
    for process in among:
        children.setdefault(process.parent, []).append(process.pid)
    found = list(dict.fromkeys(roots))
    for parent in found:
        found.extend(children.get(parent, []))
    return found


def kill_descendants(roots: Collection[int], until: float, also: Callable[[Process], bool]) -> bool:
    """SIGKILL what those processes started, and what `also` says; whether a living one was seen.

    Each is killed as soon as it is seen: one that is killed when a whole list has been made has started another by
    then. Ends at `until` of the monotonic clock.
    """
    family, seen = set(roots), False
    for process in processes():
        if time.monotonic() > until:
            return True
        if process.pid not in family and (process.parent in family or also(process)):
            family.add(process.pid)
            if not process.ended:
                seen = True
                with contextlib.suppress(PermissionError):  # the others have to go all the same
                    kill_all([process.pid])
    return seen


def kill_all(pids: Collection[int]) -> None:
    """SIGKILL, each; one that is gone already is no error."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
