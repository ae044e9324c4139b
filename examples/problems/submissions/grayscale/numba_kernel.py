"""numba-cuda: a thread a pixel."""

from numba import cuda, int32, uint8


@cuda.jit
def grayscale(rgb, grey):
    x, y = cuda.grid(2)
    if y < grey.shape[0] and x < grey.shape[1]:
        red, green, blue = int32(rgb[y, x, 0]), int32(rgb[y, x, 1]), int32(rgb[y, x, 2])
        grey[y, x] = uint8((77 * red + 150 * green + 29 * blue + 128) >> 8)


def solution(rgb, grey, height: int, width: int):
    grayscale[(-(-width // 16), -(-height // 16)), (16, 16)](rgb, grey)
