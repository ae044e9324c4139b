"""Fill the memory that torch's allocator keeps for later tensors, before a call is recorded.

A recording has all memory of the program, so it has what earlier calls left in such memory. To record a result of
6 GiB takes 37 s on an H200, and temporary tensors of a task with 25 cases filled a disk of 64 GB. Old results become
zeros, which are left out of the files: a replay fills results with noise before each sample, so it never sees them.
Scratch memory gets one byte value, of which a recording keeps one page. The value is not zero, because a kernel that
forgets to initialise its own scratch memory must not find zeros there.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from typing import Any

from ...region import Memory
from .driver import Driver

LARGE = 1 << 26
"""Bytes of a block from which it is filled. In proportion to the time for 6 GiB, 64 MiB take 0.4 s."""

SCRATCH = 0x7F
"""Byte value of scratch memory: 3.4e38 as float32, and a large integer. A sum or maximum that starts there is wrong."""


def fill_unused(driver: Driver, results: Collection[Memory]) -> None:
    """Fill the unused blocks: with zeros where one of the `results` of the last call begins, else with SCRATCH.

    Does nothing if the submission has not loaded torch, or where torch cannot tell its blocks.
    """
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "cuda"):
        return
    try:
        if not torch.cuda.is_initialized():
            return
        held = []  # each until all are filled, or torch would serve the next request from the same block
        for size in sorted(each for each in _unused_blocks(torch) if each >= LARGE):
            held.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
            begin = held[-1].data_ptr()
            is_result = any(begin <= each.address < begin + size for each in results)
            driver.fill(begin, 0 if is_result else SCRATCH, size)
    except Exception:  # of another version of torch, or of one that the submission has changed
        return


def _unused_blocks(torch: Any) -> Iterator[int]:
    """The sizes of the blocks of this device and stream. Memory of CUDA graphs is in pools of its own."""
    device, stream = torch.cuda.current_device(), torch.cuda.current_stream().cuda_stream
    for segment in torch.cuda.memory_snapshot():
        is_served = (segment["device"], segment["stream"]) == (device, stream)
        if not is_served or tuple(segment.get("segment_pool_id", (0, 0))) != (0, 0):
            continue
        for block in segment["blocks"]:
            if block["state"] == "inactive":
                yield block["size"]
