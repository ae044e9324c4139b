"""Clear the memory of old results that torch's allocator keeps for later tensors, before a call is recorded.

A recording has all memory of the program. Old results, whose memory the call's own results will take, would be read
from the device, written to files and read again: 37 s for a result of 6 GiB on an H200. Zeros are left out of the
files. A replay fills results with noise before each sample, so it never sees these zeros. Other memory that torch keeps
stays as it is: a kernel that forgets to initialise its own scratch memory must not find zeros there.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from typing import Any

from ...region import Memory
from .driver import Driver

LARGE = 1 << 26
"""Bytes of a block from which it is cleared. In proportion to the time for 6 GiB, 64 MiB take 0.4 s."""


def clear_old_results(driver: Driver, results: Collection[Memory]) -> None:
    """Clear the unused blocks in which the `results` of the last call begin.

    Does nothing if the submission has not loaded torch, or where torch cannot tell its blocks.
    """
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "cuda"):
        return
    try:
        if not torch.cuda.is_initialized():
            return
        held = []  # each until all are cleared, or torch would serve the next request from the same block
        for address, size in _unused_blocks(torch):
            if size >= LARGE and any(address <= each.address < address + size for each in results):
                held.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
                if held[-1].data_ptr() == address:
                    driver.fill(address, 0, size)
    except Exception:  # of another version of torch, or of one that the submission has changed
        return


def _unused_blocks(torch: Any) -> Iterator[tuple[int, int]]:
    """Address and size of the blocks of this device and stream. Memory of CUDA graphs is in pools of its own."""
    device, stream = torch.cuda.current_device(), torch.cuda.current_stream().cuda_stream
    for segment in torch.cuda.memory_snapshot():
        is_served = (segment["device"], segment["stream"]) == (device, stream)
        if not is_served or tuple(segment.get("segment_pool_id", (0, 0))) != (0, 0):
            continue
        address = segment["address"]
        for block in segment["blocks"]:
            if block["state"] == "inactive":
                yield address, block["size"]
            address += block["size"]
