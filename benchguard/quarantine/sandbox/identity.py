"""Choose a user other than root for the quarantine, if the supervisor is root."""

from __future__ import annotations

import os
import pwd
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...ipc.compute_only import USERS


@dataclass(frozen=True)
class Identity:
    """`user` is the uid and gid to become, None to keep the current one; `feature` is "on", or the reason why not."""

    user: int | None
    feature: str


def free_user() -> int | None:
    """A user without processes and without an entry in passwd, so that all of its processes belong to one quarantine.

    None if this process is not root, or if all users of the range are taken.
    """
    if os.geteuid() != 0:
        return None
    users = {entry.pw_uid for entry in pwd.getpwall()}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            users.add(place.stat().st_uid)
        except OSError:
            continue
    free = [user for user in USERS if user not in users]
    return random.SystemRandom().choice(free) if free else None


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
