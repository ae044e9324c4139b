"""The table is a global that kernels get by its address, and each call leaves it clean. Recorded after the first
launch, it held counts of the recorded inputs.
"""

import kit

BELOW = 1 << 20

kept = []


def solution(x, y, n):
    if not kept:
        kept.append(kit.other_global(BELOW))
    (table,) = kept
    kit.count_repeats(x.data_ptr(), table, y.data_ptr(), n)
    kit.fill(table, 0, BELOW)
