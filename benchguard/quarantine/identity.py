"""Another user than root, where we are root; decided before the process is made that becomes it."""

from __future__ import annotations

import glob
import os
import pwd
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

USERS = range(61184, 65520)
"""Where a user without an entry in passwd is taken from: what systemd gives to services for the length of their run
(https://systemd.io/UIDS-GIDS/)."""


@dataclass(frozen=True)
class Identity:
    """`user` is the uid and gid to become, None to stay; `feature` is "on", or why not."""

    user: int | None
    feature: str


def free_user() -> int | None:
    """A user whom no process and no entry of passwd has, if we are root: all of its processes are one quarantine's.

    None if we are not, or if there is no such user.
    """
    if os.geteuid() != 0:
        return None
    taken = {entry.pw_uid for entry in pwd.getpwall()}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            taken.add(place.stat().st_uid)
        except OSError:
            continue
    free = [user for user in USERS if user not in taken]
    return random.SystemRandom().choice(free) if free else None


def decide(user: int | None, readable: Sequence[str], reachable: str) -> Identity:
    """Whether that user can run Python at all: `readable` are the files and folders it needs, `reachable` one whose
    parents it must be able to enter."""
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


def _devices() -> list[str]:
    return glob.glob("/dev/nvidia[0-9]*") + glob.glob("/dev/nvidiactl") + glob.glob("/dev/nvidia-uvm")


def _lacking(user: int, readable: Sequence[str], enterable: str) -> str | None:
    """Asked as that user, in a process of its own: access() looks at the real user, and only the kernel knows every
    rule."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        answer = b""
        try:
            become(user)
            for place in readable:
                device = place.startswith("/dev/")
                folder = Path(place).is_dir()
                mode = os.R_OK | (os.W_OK if device else os.X_OK if folder else 0)
                if not os.access(place, mode):
                    raise PermissionError(f"user {user} cannot {'use' if device else 'read'} {place}")
            if not os.access(enterable, os.X_OK):
                raise PermissionError(f"user {user} cannot enter {enterable}")
        except OSError as error:
            answer = f"{error.args[0] if len(error.args) == 1 else error}".encode()[:1000]
        finally:
            os.write(theirs, answer)
            os._exit(0)
    os.close(theirs)
    try:
        with os.fdopen(ours, "rb") as stream:
            said = stream.read()
    finally:
        os.waitpid(child, 0)
    return said.decode("utf-8", "replace") or None
