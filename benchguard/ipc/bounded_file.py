"""Read a file that somebody names, however large it is and whatever it is."""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader


def open_regular(path: str | os.PathLike[str]) -> BufferedReader:
    """Open a regular file. Raises OSError, also for a pipe or a device, for which it does not wait."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        return os.fdopen(descriptor, "rb")
    except OSError:
        os.close(descriptor)
        raise


def read_bounded(path: str | os.PathLike[str], limit: int) -> bytes:
    """The content of a regular file of at most `limit` bytes.

    Raises OSError, also for a larger file and for a pipe or a device, which it neither reads nor waits for.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        data = file.read(limit + 1) if size <= limit else b""
    if size > limit or len(data) > limit:
        raise OSError(errno.EFBIG, f"it has more than {limit >> 20} MiB", str(path))
    return data
