"""Triton: a program turns a block of pixels grey."""

import triton
import triton.language as tl


@triton.jit
def grayscale(rgb, grey, pixels, BLOCK: tl.constexpr):
    pixel = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = pixel < pixels
    red = tl.load(rgb + 3 * pixel, inside).to(tl.int32)
    green = tl.load(rgb + 3 * pixel + 1, inside).to(tl.int32)
    blue = tl.load(rgb + 3 * pixel + 2, inside).to(tl.int32)
    tl.store(grey + pixel, ((77 * red + 150 * green + 29 * blue + 128) >> 8).to(tl.uint8), inside)


def solution(rgb, grey, height: int, width: int):
    block = 1024
    grayscale[(triton.cdiv(height * width, block),)](rgb, grey, height * width, BLOCK=block)
