"""The grey picture and its expected equalised version."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]


def make_picture(size: int, seed: int) -> Pixels:
    """A dark square picture, `size` pixels per side."""
    random = np.random.default_rng(seed)
    return (random.beta(2, 5, (size, size)) * 255).astype(np.uint8)


def equalise(picture: Pixels) -> Pixels:
    """The expected picture: the rank of each pixel among all, scaled to 0..255."""
    counts = np.bincount(picture.ravel(), minlength=256).astype(np.uint64)
    below = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.uint64)
    return (255 * below[picture] // picture.size).astype(np.uint8)
