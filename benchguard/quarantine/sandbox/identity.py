"""Choose a user other than root for the quarantine, if the supervisor is root."""

from __future__ import annotations

import fcntl
import os
import pwd
import random
import stat
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ...ipc.users import SANDBOXES

CLAIMS = ("/run/neutrino-bench.users", "/tmp/neutrino-bench.users")
"""Files of root's, of which the first usable one is used: a lock on byte N claims user N. /run may be read-only in
containers."""


@dataclass(frozen=True)
class Identity:
    """`user` is the uid and gid to become, None to keep the current one; `feature` is "on", or the reason why not."""

    user: int | None
    feature: str


@contextmanager
def claimed_user() -> Iterator[int | None]:
    """A user without processes and without an entry in passwd, which no other sandbox gets while the context lasts.

    A sandbox ends by killing all processes of its user, and processes of one user can signal each other. The user is
    None if this process is not root, or if all users of the range are taken.
    """
    if os.geteuid() != 0:
        yield None
        return
    claims = _open_claims()
    try:
        yield next((user for user in _free_users() if claims is None or _claim(claims, user)), None)
    finally:
        if claims is not None:
            os.close(claims)  # and with it the lock


def _free_users() -> list[int]:
    users = {entry.pw_uid for entry in pwd.getpwall()}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            users.add(place.stat().st_uid)
        except OSError:
            continue
    free = [user for user in SANDBOXES if user not in users]
    first = random.SystemRandom().randrange(len(free)) if free else 0
    return free[first:] + free[:first]


def _open_claims() -> int | None:
    """None if there is no place for the file. Users are then only unlikely to be the same."""
    for path in CLAIMS:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError:
            continue
        entry = os.fstat(descriptor)
        if stat.S_ISREG(entry.st_mode) and entry.st_uid == 0 and not entry.st_mode & 0o077:
            return descriptor
        os.close(descriptor)
    return None


def _claim(descriptor: int, user: int) -> bool:
    """Lock the byte of a user. The lock belongs to the open file, so it also holds between threads of one process."""
    lock = struct.pack("@hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, user, 1, 0)  # struct flock of x86-64
    try:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, lock)
    except (BlockingIOError, PermissionError):  # fcntl(2): another open file has the lock
        return False
    except OSError:  # this file system has no locks
        return True
    return True


def decide(user: int | None, readable: Sequence[str], reachable: str) -> Identity:
    """Check that `user` can run Python.

    The user must be able to read the files and folders `readable`, and to enter the parents of `reachable`.
    """
    if os.geteuid() != 0:
        return Identity(None, "on")
    if user is None:
        return Identity(None, "it runs as root: no free user was found")
    lacking = _lacking(user, [*readable, *_devices()], str(Path(reachable).parent))
    if lacking is None:
        return Identity(user, "on")
    return Identity(None, f"it runs as root: {lacking}")


def become(user: int) -> None:
    """Raises OSError."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


_DEVICES = ("nvidia[0-9]*", "nvidiactl", "nvidia-uvm")


def _devices() -> list[str]:
    return [str(path) for name in _DEVICES for path in Path("/dev").glob(name)]


def _lacking(user: int, readable: Sequence[str], enterable: str) -> str | None:
    """The first place that `user` cannot use; None if it can use all.

    A forked process becomes that user and calls access(): only the kernel knows all access rules.
    """
    folders = {place for place in readable if Path(place).is_dir()}
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        answer = b""
        try:
            become(user)
            for place in readable:
                device = place.startswith("/dev/")
                mode = os.R_OK | (os.W_OK if device else os.X_OK if place in folders else 0)
                if not os.access(place, mode):
                    raise PermissionError(f"user {user} cannot {'use' if device else 'read'} {place}")
            if not os.access(enterable, os.X_OK):
                raise PermissionError(f"user {user} cannot enter {enterable}")
        except OSError as error:
            answer = str(error).encode()[:1000]
        finally:
            os.write(theirs, answer)
            os._exit(0)
    os.close(theirs)
    try:
        with os.fdopen(ours, "rb") as stream:
            reason = stream.read()
    finally:
        os.waitpid(child, 0)
    return reason.decode("utf-8", "replace") or None
