"""Confine a worker that only computes: it reads requests, writes answers, and allocates memory."""

from __future__ import annotations

import contextlib
import os
import random
import resource
from collections.abc import Callable

from . import libc
from .users import WORKERS

CALLS = (
    "read", "write", "close", "exit", "exit_group", "rt_sigreturn", "rt_sigprocmask", "restart_syscall",
    "brk", "mmap", "munmap", "mremap", "mprotect", "madvise", "futex", "getrandom", "clock_gettime", "fstat", "lseek",
)  # fmt: skip
"""System calls that an interpreter makes once it has imported everything."""


def compute_only(memory_bytes: int) -> None:
    """Give up everything but open descriptors and `memory_bytes` of address space, as far as this machine allows.

    A root process becomes another user. System calls that are not in CALLS end the process.
    """
    load = _filter()  # before the limits, because the package looks for its library with other programs
    for limit, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_AS, memory_bytes),
    ):
        resource.setrlimit(limit, (most, most))
    if os.geteuid() == 0:
        user = random.SystemRandom().choice(WORKERS)
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
    libc.prctl(libc.PR_SET_DUMPABLE, 0)
    with contextlib.suppress(OSError):
        load()


def _filter() -> Callable[[], None]:
    """Loads the filter; does nothing on a machine without libseccomp."""
    try:
        from pyseccomp import ALLOW, KILL_PROCESS, SyscallFilter  # noqa: PLC0415 - loads libseccomp
    except (ImportError, RuntimeError, OSError):
        return lambda: None
    rules = SyscallFilter(KILL_PROCESS)
    for name in CALLS:
        with contextlib.suppress(OSError, ValueError):  # not every architecture has each call
            rules.add_rule(ALLOW, name)
    load: Callable[[], None] = rules.load
    return load
