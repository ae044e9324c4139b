"""Clear the memory that torch's allocator keeps for later tensors, before a call is recorded.

A recording has all memory of the program. Old results in such memory, which the call's own results will overwrite,
would be read from the device, written to files and read again: 45 s for an output of 6 GiB on an H200. Zeros are left
out of the files. No program may count on the content of new tensors.
"""

from __future__ import annotations

import sys
from typing import Any

from .driver import Driver

LARGE = 1 << 20
"""Bytes from which torch keeps a block for requests of its own size."""


def clear_cached_memory(driver: Driver) -> None:
    """Clear the unused blocks of the current device and stream, where torch serves requests of their sizes from them.

    Does nothing if the submission has not loaded torch, or where torch cannot tell its blocks.
    """
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "cuda"):
        return
    try:
        if not torch.cuda.is_initialized():
            return
        held = []  # each until all are cleared, or torch would serve the next request from the same block
        for size in sorted(_unused_blocks(torch), reverse=True):
            held.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
            driver.fill(held[-1].data_ptr(), 0, size)
    except Exception:  # of another version of torch, or of one that the submission has changed
        return


def _unused_blocks(torch: Any) -> list[int]:
    """The sizes of the blocks. Memory of CUDA graphs is in pools of its own, and is not served to others."""
    device, stream = torch.cuda.current_device(), torch.cuda.current_stream().cuda_stream
    return [
        block["size"]
        for segment in torch.cuda.memory_snapshot()
        if (segment["device"], segment["stream"]) == (device, stream)
        and tuple(segment.get("segment_pool_id", (0, 0))) == (0, 0)
        for block in segment["blocks"]
        if block["state"] == "inactive" and block["size"] >= LARGE
    ]
