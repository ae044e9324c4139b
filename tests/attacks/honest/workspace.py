"""Scratch memory is allocated once and kept; what is in it does not matter."""

import kit

scratch = {}


def solution(x, y, n, rounds):
    if n not in scratch:
        scratch[n] = kit.allocate(4 * n)
    kit.mix(x.data_ptr(), scratch[n], n, rounds // 2)
    kit.mix(scratch[n], y.data_ptr(), n, rounds - rounds // 2)
