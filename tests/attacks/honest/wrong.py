"""The control that is wrong: a round too few."""

import kit


def solution(x, y, n, rounds):
    kit.mix(x.data_ptr(), y.data_ptr(), n, rounds - 1)
