"""The control of Repeats: the table of counts is kept, and cleared in each call."""

import kit

BELOW = 1 << 20
table = []


def solution(x, y, n):
    if not table:
        table.append(kit.allocate(4 * BELOW))
    kit.fill(table[0], 0, BELOW)
    kit.count_repeats(x.data_ptr(), table[0], y.data_ptr(), n)
