"""Copy large arrays between a GPU and the host, by way of page-locked memory.

torch's own copies from and to fresh host memory take 0.8 s for 1 GiB, those by way of page-locked memory 0.07 s (H100).
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .threads import threads

Bytes = NDArray[np.uint8]

LARGE = 8 << 20
"""Bytes from which the way through page-locked memory is worth it."""

PART = 4 << 20
"""Bytes that a thread copies at once."""

STAGE = 64 << 20
"""Bytes of page-locked memory. torch keeps it for the next copy."""


def from_gpu(flat: Any) -> Bytes:
    """The bytes of a contiguous tensor of one dimension and dtype uint8 on a GPU, in memory of their own."""
    torch = sys.modules["torch"]
    host = np.empty(len(flat), np.uint8)
    stage = torch.empty(min(len(flat), STAGE), dtype=torch.uint8, pin_memory=True)
    with ThreadPoolExecutor(threads()) as pool:
        for start in range(0, len(flat), STAGE):
            part = flat[start : start + STAGE]
            stage[: len(part)].copy_(part)
            _copy(pool, host[start : start + STAGE], stage.numpy()[: len(part)])
    return host


def to_gpu(flat: Bytes, device: str) -> Any:
    """A new tensor of dtype uint8 on a GPU, with the bytes of a contiguous array of dtype uint8."""
    torch = sys.modules["torch"]
    tensor = torch.empty(len(flat), dtype=torch.uint8, device=device)
    stage = torch.empty(min(len(flat), STAGE), dtype=torch.uint8, pin_memory=True)
    with ThreadPoolExecutor(threads()) as pool:
        for start in range(0, len(flat), STAGE):
            part = flat[start : start + STAGE]
            _copy(pool, stage.numpy()[: len(part)], part)  # torch warns of arrays that are not writable
            tensor[start : start + STAGE].copy_(stage[: len(part)])
    return tensor


def _copy(pool: ThreadPoolExecutor, to: Bytes, source: Bytes) -> None:
    """Copy by several threads: with one, this took most of the time of a copy from or to the GPU."""

    def copy(at: int) -> None:
        np.copyto(to[at : at + PART], source[at : at + PART])

    for _ in pool.map(copy, range(0, len(source), PART)):
        pass
