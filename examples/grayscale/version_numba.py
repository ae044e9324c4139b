"""numba-cuda: a kernel written in Python."""

from __future__ import annotations

import warnings

import numpy as np
from numba import cuda, int32, uint8
from picture import Pixels

BLOCK = (16, 16)

# cuda.core says so at each link: the extra leaves nvJitLink out, and the driver links instead (pyproject.toml).
warnings.filterwarnings("ignore", message="cuda.bindings.nvjitlink is not available")


@cuda.jit
def grayscale(rgb, grey):  # type: ignore[no-untyped-def]  # numba reads the types from the arguments
    x, y = cuda.grid(2)
    if y < grey.shape[0] and x < grey.shape[1]:
        red, green, blue = int32(rgb[y, x, 0]), int32(rgb[y, x, 1]), int32(rgb[y, x, 2])
        grey[y, x] = uint8((77 * red + 150 * green + 29 * blue + 128) >> 8)


def run(picture: Pixels) -> tuple[Pixels, str, str]:
    """Return the grey picture, the device name and the kernel name."""
    height, width = picture.shape[:2]
    rgb_on_device = cuda.to_device(picture)
    grey_on_device = cuda.device_array((height, width), np.uint8)
    grid = (-(-width // BLOCK[0]), -(-height // BLOCK[1]))
    grayscale[grid, BLOCK](rgb_on_device, grey_on_device)
    name = cuda.get_current_device().name
    return grey_on_device.copy_to_host(), name.decode() if isinstance(name, bytes) else name, "grayscale"
