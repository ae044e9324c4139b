"""Triton: a kernel on blocks of pixels. Needs a GPU, and torch for the memory."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from picture import Pixels


@triton.jit
def grayscale(rgb, grey, count, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]  # noqa: N803
    pixel = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = pixel < count
    red = tl.load(rgb + 3 * pixel, inside).to(tl.int32)
    green = tl.load(rgb + 3 * pixel + 1, inside).to(tl.int32)
    blue = tl.load(rgb + 3 * pixel + 2, inside).to(tl.int32)
    tl.store(grey + pixel, ((77 * red + 150 * green + 29 * blue + 128) >> 8).to(tl.uint8), inside)


def run(picture: Pixels) -> tuple[Pixels, str, str]:
    """Return the grey picture, the device name and the kernel name."""
    if not torch.cuda.is_available():
        raise RuntimeError("torch finds no GPU; use --version cuda or numba")
    rgb = torch.from_numpy(picture).cuda()
    grey = torch.empty(picture.shape[:2], dtype=torch.uint8, device="cuda")
    block = 1024
    grayscale[(triton.cdiv(grey.numel(), block),)](rgb, grey, grey.numel(), BLOCK=block)
    return grey.cpu().numpy(), torch.cuda.get_device_name(), "grayscale"
