"""The colour picture and its expected grey version."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

Pixels = npt.NDArray[np.uint8]

WEIGHTS = (77, 150, 29)
"""Red, green and blue in 256ths, after ITU-R BT.601; they sum to 256."""


def make_picture(width: int, height: int) -> Pixels:
    """A gradient with a red disc, a white bar and a chequered corner; height x width x 3."""
    y, x = np.mgrid[0:height, 0:width]
    picture = np.empty((height, width, 3), np.uint8)
    picture[..., 0] = x * 255 // max(width - 1, 1)
    picture[..., 1] = y * 255 // max(height - 1, 1)
    picture[..., 2] = (x + y) * 255 // max(width + height - 2, 1)
    radius = min(width, height) // 5
    picture[(x - width // 3) ** 2 + (y - height // 2) ** 2 < radius**2] = (220, 30, 40)
    picture[height * 7 // 8 : height * 15 // 16, width // 8 : width * 7 // 8] = 255
    corner = (x > width * 3 // 4) & (y < height // 4)
    picture[corner & ((x // 8 + y // 8) % 2 == 0)] = (20, 60, 200)
    return picture


def grey_by_numpy(picture: Pixels) -> Pixels:
    """The expected grey picture, equal byte for byte for every version."""
    wide = picture.astype(np.int32)
    red, green, blue = WEIGHTS
    return ((red * wide[..., 0] + green * wide[..., 1] + blue * wide[..., 2] + 128) >> 8).astype(np.uint8)


def save(picture: Pixels, grey: Pixels, folder: Path) -> None:
    """Write the pictures as PNG files. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    Image.fromarray(picture).save(folder / "rgb.png")
    Image.fromarray(grey).save(folder / "grey.png")
    np.save(folder / "grey.npy", grey)
