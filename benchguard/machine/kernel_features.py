"""Sandbox features of the running kernel, by system calls (x86-64 numbers)."""

from __future__ import annotations

import ctypes
import errno

_SECCOMP = 317
_LANDLOCK_CREATE_RULESET = 444
_MSEAL = 462
_LANDLOCK_CREATE_RULESET_VERSION = 1
_SECCOMP_GET_NOTIF_SIZES = 3


def _call(number: int, *arguments: object) -> tuple[int, int]:
    """Make a system call; return its result and errno."""
    libc = ctypes.CDLL(None, use_errno=True)
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *arguments)
    return int(result), ctypes.get_errno()


def landlock() -> str | None:
    """The ABI version of landlock; None without landlock."""
    version, _ = _call(
        _LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint(_LANDLOCK_CREATE_RULESET_VERSION)
    )
    return f"ABI {version}" if version > 0 else None


def mseal() -> str | None:
    """Probe mseal by sealing 0 bytes."""
    result, error = _call(_MSEAL, ctypes.c_void_p(0), ctypes.c_size_t(0), ctypes.c_ulong(0))
    return "available" if result == 0 or error not in (errno.ENOSYS, errno.EPERM) else None


def seccomp_notify() -> str | None:
    """Probe seccomp user notification by the sizes of its structures."""
    sizes = (ctypes.c_uint16 * 3)()
    result, _ = _call(_SECCOMP, ctypes.c_uint(_SECCOMP_GET_NOTIF_SIZES), ctypes.c_uint(0), sizes)
    return "user notification available" if result == 0 else None
