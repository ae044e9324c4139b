"""Two kernels for the test in grayscale.py: a correct one, and one that ignores a colour."""

from __future__ import annotations

import warnings

from numba import cuda, float32

warnings.filterwarnings("ignore")  # numba's about small grids

BLOCK = (16, 16)


@cuda.jit
def grayscale(output, picture, green):  # type: ignore[no-untyped-def]  # numba reads the types from the arguments
    x, y = cuda.grid(2)
    if y < output.shape[0] and x < output.shape[1]:
        red = float32(0.2989) * picture[y, x, 0]
        output[y, x] = red + green * picture[y, x, 1] + float32(0.114) * picture[y, x, 2]


def _run(output, picture, green):  # type: ignore[no-untyped-def]
    grid = (-(-output.shape[1] // BLOCK[0]), -(-output.shape[0] // BLOCK[1]))
    grayscale[grid, BLOCK](output, picture, float32(green))


def kernel(output, picture):  # type: ignore[no-untyped-def]
    _run(output, picture, 0.587)


def wrong_kernel(output, picture):  # type: ignore[no-untyped-def]
    _run(output, picture, 0.0)
