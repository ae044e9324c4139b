"""Works in memory of its own: the call begins and ends with a copy, which a copy engine may do."""

import kit

memory = {}


def solution(x, y, n, rounds):
    if n not in memory:
        memory[n] = kit.allocate(4 * n), kit.allocate(4 * n)
    first, second = memory[n]
    kit.copy(first, x.data_ptr(), 4 * n)
    kit.mix(first, second, n, rounds)
    kit.copy(y.data_ptr(), second, 4 * n)
