"""Landlock's system calls.

The package `landlock` lacks the scopes of ABI 6 (signals, abstract sockets), without which the submission could kill
its supervisor. It also cannot skip rules for files that cannot be opened.
"""

from __future__ import annotations

import ctypes
import enum
import os
import stat
import struct

from ...ipc import libc

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_VERSION = 1
_PATH_BENEATH = 1
_RULESET = struct.Struct("<QQQ")
_RULE = struct.Struct("<Qi")


class Access(enum.IntFlag):
    """linux/landlock.h"""

    EXECUTE = 1 << 0
    WRITE_FILE = 1 << 1
    READ_FILE = 1 << 2
    READ_DIR = 1 << 3
    REMOVE_DIR = 1 << 4
    REMOVE_FILE = 1 << 5
    MAKE_CHAR = 1 << 6
    MAKE_DIR = 1 << 7
    MAKE_REG = 1 << 8
    MAKE_SOCK = 1 << 9
    MAKE_FIFO = 1 << 10
    MAKE_BLOCK = 1 << 11
    MAKE_SYM = 1 << 12
    REFER = 1 << 13
    TRUNCATE = 1 << 14
    IOCTL_DEV = 1 << 15


_NET = 0b11
"""Bind and connect of TCP."""
_SCOPES = 0b11
"""Abstract UNIX sockets and signals work only among processes of the same sandbox."""

READ = Access.EXECUTE | Access.READ_FILE | Access.READ_DIR
DEVICE = Access.READ_FILE | Access.WRITE_FILE | Access.IOCTL_DEV
NAMED = READ | Access.WRITE_FILE | Access.TRUNCATE
WRITE = (
    READ
    | Access.WRITE_FILE
    | Access.REMOVE_DIR
    | Access.REMOVE_FILE
    | Access.MAKE_DIR
    | Access.MAKE_REG
    | Access.MAKE_SOCK
    | Access.MAKE_FIFO
    | Access.MAKE_SYM
    | Access.REFER
    | Access.TRUNCATE
)
_FOR_FILES = Access.EXECUTE | Access.WRITE_FILE | Access.READ_FILE | Access.TRUNCATE | Access.IOCTL_DEV

ABI_TRUNCATE = 3
ABI_NETWORK = 4
ABI_SCOPES = 6


def abi() -> int:
    """The version of the kernel's landlock; 0 without landlock."""
    try:
        return libc.syscall(_CREATE_RULESET, None, 0, _VERSION)
    except OSError:
        return 0


class Ruleset:
    """Rules that allow access. After restrict(), the kernel denies all other access that it can restrict."""

    def __init__(self, version: int, network: bool) -> None:
        """Raises OSError."""
        self._handled = Access((1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)) - 1)
        attributes = _RULESET.pack(
            int(self._handled),
            _NET if version >= ABI_NETWORK and not network else 0,
            _SCOPES if version >= ABI_SCOPES else 0,
        )
        size = 24 if version >= ABI_SCOPES else 16 if version >= ABI_NETWORK else 8
        self._descriptor = libc.syscall(_CREATE_RULESET, ctypes.c_char_p(attributes), size, 0)

    def allow(self, path: str, access: Access) -> bool:
        """Allow access to a file or beneath a folder. Return False if it cannot be opened. Raises OSError."""
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            if not stat.S_ISDIR(os.fstat(place).st_mode):
                access &= _FOR_FILES
            rule = _RULE.pack(int(access & self._handled), place)
            libc.syscall(_ADD_RULE, self._descriptor, _PATH_BENEATH, ctypes.c_char_p(rule), 0)
        finally:
            os.close(place)
        return True

    def restrict(self) -> None:
        """Apply the rules to this thread and its children, for good. Raises OSError."""
        try:
            libc.syscall(_RESTRICT_SELF, self._descriptor, 0)
        finally:
            os.close(self._descriptor)
