"""Map memory that another process shares by a descriptor."""

from __future__ import annotations

import mmap
import os


def map_inherited(descriptor: int, writable: bool, changes: bool = False) -> memoryview:
    """Map an inherited memory file; empty for -1.

    Inputs may be sealed: Linux before 6.7 then refuses a shared mapping even for reading, so they are mapped privately.
    With `changes` they are not sealed. All pages are mapped at once then: a page fault in the first copy of a set would
    make its sample look different.
    """
    size = os.fstat(descriptor).st_size if descriptor >= 0 else 0
    if size == 0:
        return memoryview(b"")
    if writable:
        return memoryview(mmap.mmap(descriptor, size, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE))
    if changes:
        return memoryview(mmap.mmap(descriptor, size, mmap.MAP_SHARED | mmap.MAP_POPULATE, mmap.PROT_READ))
    return memoryview(mmap.mmap(descriptor, size, mmap.MAP_PRIVATE, mmap.PROT_READ))
