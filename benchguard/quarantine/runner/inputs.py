"""The throw-away inputs: shared memory that the judge filled, and that may only be read."""

from __future__ import annotations

import ctypes
import mmap
import os

from ...problem.spec import Layout
from .failure import SubmissionError


class Inputs:
    """All sets of all cases, mapped; a page is read when it is first copied."""

    def __init__(self, descriptor: int) -> None:
        size = os.fstat(descriptor).st_size
        # Private and writable, for ctypes takes no other memory; nothing is written.
        self._memory = mmap.mmap(descriptor, size, flags=mmap.MAP_PRIVATE) if size else None
        self._size = size

    def address(self, layout: Layout, offset: int, name: str, number: int) -> tuple[int, int]:
        """Where a buffer of set `number` is in this process, and its bytes; `offset` is the case's set 0."""
        place, size = layout.place(name, number)
        if self._memory is None or offset + place + size > self._size:
            raise SubmissionError(
                f"the throw-away inputs end before set {number} of {name}; this is a fault of ours"
            )
        return ctypes.addressof(ctypes.c_char.from_buffer(self._memory)) + offset + place, size
