"""The picture, and what equalising must give."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]


def make_picture(size: int, seed: int) -> Pixels:
    """A square of `size` pixels, darker than it should be."""
    random = np.random.default_rng(seed)
    return (random.beta(2, 5, (size, size)) * 255).astype(np.uint8)


def equalise(picture: Pixels) -> Pixels:
    """Each pixel's rank among all, in 255ths."""
    counts = np.bincount(picture.ravel(), minlength=256).astype(np.uint64)
    below = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.uint64)
    return (255 * below[picture] // picture.size).astype(np.uint8)
