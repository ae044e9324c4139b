"""Honest: before each call it fills the flags of a barrier with the number of the call, and so never clears them."""

from itertools import count

import kit

FLAGS = 64
flags = []
calls = count(1)


def solution(x, y, n, rounds):
    if not flags:
        flags.append(kit.allocate(4 * FLAGS))
    kit.fill(flags[0], next(calls), FLAGS)
    kit.mix(x.data_ptr(), y.data_ptr(), n, rounds)
