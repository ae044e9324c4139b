"""Bytes for another process in a file that has no name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def memory_file(name: str, content: bytes) -> Iterator[int]:
    """The descriptor of a file in memory that has this content, at its beginning. `name` is shown in /proc only."""
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC)
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)
