"""PyTorch, eager: one of its own kernels for each operation. Needs a GPU."""

from __future__ import annotations

import torch
from picture import WEIGHTS, Pixels


def run(picture: Pixels) -> tuple[Pixels, str, str]:
    """Return the grey picture, the device name and the kernel name."""
    if not torch.cuda.is_available():
        raise RuntimeError("torch finds no GPU; use --version cuda or numba")
    rgb = torch.from_numpy(picture).cuda().to(torch.int32)
    red, green, blue = WEIGHTS
    weighted = red * rgb[..., 0] + green * rgb[..., 1] + blue * rgb[..., 2] + 128
    grey = (weighted >> 8).to(torch.uint8)
    return grey.cpu().numpy(), torch.cuda.get_device_name(), "torch's own elementwise kernels"
