"""Works in memory that it mapped to addresses of its own."""

import kit

kept = {}


def solution(x, y, n, rounds):
    if n not in kept:
        kept[n] = kit.mapped(4 * n)
    kit.copy(kept[n], x.data_ptr(), 4 * n)
    kit.mix(kept[n], y.data_ptr(), n, rounds)
