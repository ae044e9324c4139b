"""Memory that crosses processes: written by the judge, sealed, then given away."""

from __future__ import annotations

import fcntl
import mmap
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

_FIXED = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW
READ_ONLY = _FIXED | fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SEAL
FIXED = _FIXED | fcntl.F_SEAL_SEAL
"""Whoever could truncate it would kill its readers with SIGBUS."""


class Shared:
    """An anonymous file of a known size. It is written by calls, not through a mapping: one that may be written to
    would keep the file from being sealed."""

    def __init__(self, name: str, size: int) -> None:
        self.size = size
        self.descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(self.descriptor, size)
        except BaseException:
            os.close(self.descriptor)
            raise

    @classmethod
    def received(cls, descriptor: int) -> Shared:
        """Made by another process of ours; the descriptor is its own from now on."""
        found = cls.__new__(cls)
        found.descriptor, found.size = descriptor, os.fstat(descriptor).st_size
        return found

    def write(self, data: NDArray[Any], offset: int) -> None:
        """An array without gaps, as its bytes."""
        view = memoryview(data.reshape(-1).view(np.uint8).data)
        while view:
            count = os.pwrite(self.descriptor, view[: 1 << 30], offset)
            view, offset = view[count:], offset + count

    def seal(self, seals: int) -> None:
        fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, seals)

    def view(self) -> Bytes:
        """All of it, to read; the mapping lives as long as the array. Sealed against shrinking, or it is no good."""
        found = np.frombuffer(
            mmap.mmap(self.descriptor, self.size, mmap.MAP_SHARED, mmap.PROT_READ), np.uint8
        )
        assert not found.flags.writeable
        return found

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
