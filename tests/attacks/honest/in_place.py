"""The problem says that its input is written."""

import kit


def solution(x, n, rounds):
    kit.mix(x.data_ptr(), x.data_ptr(), n, rounds)
