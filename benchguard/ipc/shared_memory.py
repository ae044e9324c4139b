"""Memory shared between processes: written by the judge, sealed, then passed on by descriptor."""

from __future__ import annotations

import fcntl
import mmap
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

_FIXED = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW
_COPIED = 1 << 26
READ_ONLY = _FIXED | fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SEAL
FIXED = _FIXED | fcntl.F_SEAL_SEAL
"""The size is sealed: a process that truncated the file would kill its readers with SIGBUS."""


class SharedMemory:
    """An anonymous file of a fixed size."""

    def __init__(self, name: str, size: int) -> None:
        self.size = size
        self.descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(self.descriptor, size)
        except BaseException:
            os.close(self.descriptor)
            raise

    @classmethod
    def adopt(cls, descriptor: int) -> SharedMemory:
        """Memory that another of our processes made. The object owns `descriptor` from now on."""
        memory = cls.__new__(cls)
        memory.descriptor, memory.size = descriptor, os.fstat(descriptor).st_size
        return memory

    def write(self, data: NDArray[Any], offset: int) -> None:
        """Write the bytes of a contiguous array."""
        view = memoryview(data.reshape(-1).view(np.uint8).data)
        while view:
            count = os.pwrite(self.descriptor, view[: 1 << 30], offset)
            view, offset = view[count:], offset + count

    def copy(self, size: int, source: int, target: int) -> None:
        """Copy bytes to an offset that is not after `source`."""
        for done in range(0, size if target < source else 0, _COPIED):
            part = os.pread(self.descriptor, min(_COPIED, size - done), source + done)
            self.write(np.frombuffer(part, np.uint8), target + done)

    def writable(self, offset: int, size: int) -> Bytes:
        """A mapping of a part of the file, which lives as long as the array and its views. Before the file is sealed
        against writing, all of these must have ended."""
        before = offset % mmap.ALLOCATIONGRANULARITY
        mapping = mmap.mmap(
            self.descriptor,
            before + size,
            mmap.MAP_SHARED,
            mmap.PROT_READ | mmap.PROT_WRITE,
            offset=offset - before,
        )
        return np.frombuffer(mapping, np.uint8)[before:]

    def seal(self, seals: int) -> None:
        fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, seals)

    def view(self) -> Bytes:
        """A read-only mapping of the whole file, which lives as long as the array. Seal the size first."""
        array = np.frombuffer(
            mmap.mmap(self.descriptor, self.size, mmap.MAP_SHARED, mmap.PROT_READ), np.uint8
        )
        assert not array.flags.writeable
        return array

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
