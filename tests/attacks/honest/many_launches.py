"""In many small launches."""

import kit

STEPS = 8


def solution(x, y, n, rounds):
    for step in range(STEPS):
        kit.mix((y if step else x).data_ptr(), y.data_ptr(), n, rounds // STEPS)
