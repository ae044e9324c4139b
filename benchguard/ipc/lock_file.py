"""Lock files that all graders of a machine share, whoever made them."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from ..errors import BenchguardError, UsageError

FOLDER = "NEUTRINO_GPU_LOCKS"
"""Environment variable: a folder for the locks, which containers that share a GPU share. The CPU driver has a lock only
with it."""

DEFAULT_FOLDER = "/tmp"
"""The same for all users, unlike TMPDIR."""


def lock_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Raises UsageError if the variable names no folder."""
    folder = Path(environment.get(FOLDER) or DEFAULT_FOLDER)
    if not folder.is_dir():
        raise UsageError(
            f"{FOLDER} is {str(folder)!r}, which is not a folder; create it, or unset the variable"
        )
    return folder


def open_lock(path: Path) -> int:
    """A descriptor that can be locked. The folder may be open to every user of the machine, who may have put anything
    there. The file is opened for reading, which is enough for a lock, so that it may belong to anyone.

    Raises BenchguardError."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        try:
            descriptor = os.open(path, flags)
        except FileNotFoundError:
            descriptor = _create(path, flags)
    except OSError as error:
        raise BenchguardError(
            f"cannot lock {path}: {error.strerror}; let {FOLDER} name a folder that every grader can write to"
        ) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BenchguardError(f"{path} is not a regular file, so it cannot be a lock; remove it")
    return descriptor


def _create(path: Path, flags: int) -> int:
    try:
        descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError:  # another grader was faster
        return os.open(path, flags)
    os.fchmod(descriptor, 0o644)  # whatever the umask is: others lock it too
    return descriptor


def try_lock(descriptor: int, operation: int) -> bool:
    """Take a flock(2) lock, if no other process holds it. Returns whether it was taken. `operation` has LOCK_NB."""
    try:
        fcntl.flock(descriptor, operation)
    except BlockingIOError:
        return False
    return True


def is_at(descriptor: int, path: Path) -> bool:
    """Whether the open file is still the one at `path`: a cleaner of old files may have removed it."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    return os.path.samestat(found, os.fstat(descriptor))
