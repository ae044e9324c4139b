"""The control: right, with the time that it takes."""

import kit


def solution(x, y, n, rounds):
    kit.mix(x.data_ptr(), y.data_ptr(), n, rounds)
