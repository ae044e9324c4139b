"""Read a file that somebody names, however large it is and whatever it is."""

from __future__ import annotations

import errno
import os
import stat
import time
from io import BufferedReader

from .libc import has_writer

POLL_SECONDS = 0.02


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


def open_written(path: str | os.PathLike[str], seconds: float) -> BufferedReader:
    """Open a file, or a pipe that has a writer or content. Raises OSError, also for a pipe whose writer does not come.

    To open a named pipe waits for its writer, without an end. `seconds`: the longest wait here.
    """
    file = open(path, "rb", opener=open_without_waiting)  # noqa: SIM115 - the caller closes it
    try:
        if stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
            _await_writer(file.fileno(), str(path), seconds)
        os.set_blocking(file.fileno(), True)
    except OSError:
        file.close()
        raise
    return file


def open_without_waiting(path: str, flags: int) -> int:
    """An opener for open()."""
    return os.open(path, flags | os.O_NONBLOCK)


def _await_writer(descriptor: int, path: str, seconds: float) -> None:
    end = time.monotonic() + seconds
    reading, writing = os.pipe2(os.O_CLOEXEC)
    try:
        while not has_writer(descriptor, writing):
            if time.monotonic() > end:
                raise OSError(errno.EPIPE, "no program writes to this pipe", path)
            time.sleep(POLL_SECONDS)
    finally:
        os.close(reading)
        os.close(writing)


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
