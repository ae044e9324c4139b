"""System calls for which Python has no function."""

from __future__ import annotations

import ctypes
import os

# linux/prctl.h
PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_CAPBSET_READ = 23
PR_CAPBSET_DROP = 24
PR_SET_SECUREBITS = 28
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 47, 4

# linux/sched.h, linux/mount.h
CLONE_NEWNS = 0x20000
MS_BIND, MS_REC, MS_SLAVE = 0x1000, 0x4000, 0x80000

# linux/splice.h
SPLICE_F_NONBLOCK = 2

_libc = ctypes.CDLL(None, use_errno=True)


def prctl(option: int, value: int = 0, third: int = 0) -> int:
    """Raises OSError."""
    longs = [ctypes.c_ulong(each) for each in (value, third, 0, 0)]
    return _checked(_libc.prctl(option, *longs))


def syscall(number: int, *arguments: object) -> int:
    """Pass integers as longs, and other arguments as ctypes converts them. Raises OSError."""
    words = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return _checked(_libc.syscall(ctypes.c_long(number), *words))


def unshare(flags: int) -> None:
    """Raises OSError."""
    _checked(_libc.unshare(flags))


def mount(source: str | None, target: str, flags: int) -> None:
    """A mount without a type. Raises OSError."""
    words = [None if each is None else os.fsencode(each) for each in (source, target)]
    _checked(_libc.mount(*words, None, ctypes.c_ulong(flags), None))


def has_writer(pipe: int, other: int) -> bool:
    """Whether a pipe has a writer or content, from which nothing is taken. `other`: the writing end of an empty pipe.

    Raises OSError.
    """
    try:
        # poll() cannot tell: it reports nothing for a pipe that had no writer yet, and nothing for an idle writer.
        return _checked(_libc.tee(pipe, other, ctypes.c_size_t(1), ctypes.c_uint(SPLICE_F_NONBLOCK))) > 0
    except BlockingIOError:
        return True


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
