"""A /dev/shm for the submission alone: POSIX semaphores and shared memory, as Python's multiprocessing uses them.

A folder of scratch is mounted there, so that the supervisor watches its size and removes it at the end.
"""

from __future__ import annotations

import os
from pathlib import Path

from ...ipc import libc

PLACE = "/dev/shm"


def make_private(folder: str, user: int | None) -> bool:
    """Mount the new folder `folder`, which `user` owns, at PLACE for this process and its children.

    False if this process may not mount: it needs CAP_SYS_ADMIN, which most containers lack. Call it before become().
    """
    try:
        Path(folder).mkdir(mode=0o700)
        if user is not None:
            os.chown(folder, user, user)
        libc.unshare(libc.CLONE_NEWNS)
        libc.mount(None, "/", libc.MS_REC | libc.MS_SLAVE)  # or the machine would get the next mount, too
        libc.mount(folder, PLACE, libc.MS_BIND)
    except OSError:
        return False
    return True
