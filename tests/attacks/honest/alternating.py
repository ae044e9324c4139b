"""Honest: two tables of counts. Each call uses one, and clears the other one for the next call."""

import kit

BELOW = 1 << 20
tables = []


def solution(x, y, n):
    if not tables:
        tables.extend(kit.allocate(4 * BELOW) for _ in range(2))
        kit.fill(tables[0], 0, BELOW)
    kit.fill(tables[1], 0, BELOW)
    kit.count_repeats(x.data_ptr(), tables[0], y.data_ptr(), n)
    tables.reverse()
