"""Divergence and reconvergence of lanes."""

from __future__ import annotations

import numpy as np

from tests.corpus.case import Case, In, Out, blocks, random, s32, table


def cases() -> list[Case]:
    r = random("divergence")
    n = 256
    values = r.integers(0, 1000, n).astype(np.int32)
    places = np.arange(n)
    shape = blocks(n)
    nested = np.zeros(n, np.int32)
    nested[:200] = table(lambda x: [_nested(x)], np.int32, values[:200])[:, 0]
    added = sum(sum(range(v % 5)) for v in values[:96].tolist())
    early = np.zeros(128, np.int32)
    early[:96] = added
    lanes = np.arange(64)
    waited = np.where(lanes % 2, 20, 11 + lanes).astype(np.int32)
    flags = np.where(lanes % 2, lanes, 0).astype(np.int32)
    return [
        Case("nested_branches", [In(values), Out(nested), np.int32(200)], **shape),
        Case(
            "loops_of_different_length",
            [In(values), Out(table(lambda x: [_collatz(x)], np.int32, values)[:, 0])],
            **shape,
        ),
        Case(
            "break_and_continue",
            [In(values), Out(table(lambda x: [_broken(x)], np.int32, values)[:, 0])],
            **shape,
        ),
        Case(
            "switch_table",
            [In(values), Out(table(lambda x, i: [_switched(x, i)], np.int32, values, places)[:, 0])],
            **shape,
        ),
        Case(
            "indexed_branch",
            [In(values), Out(table(lambda x: [[11, x + 22, -x][x % 3]], np.int32, values)[:, 0])],
            **shape,
        ),
        Case("early_exits", [In(values[:128]), Out(early)], block=(128,)),
        Case(
            "spin_lock",
            [Out(np.zeros(1, np.int32)), Out(np.array([96], np.int32)), Out(np.full(8, 12, np.int32))],
            grid=(2,),
            block=(48,),
        ),
        Case("wait_for_a_neighbour", [Out(flags), Out(waited)], block=(64,)),
    ]


def _nested(x: int) -> int:
    if x % 2:
        return (x * 5 if x % 3 == 0 else x - 1000 if x % 5 == 0 else -x) + 3
    return (x // 3 if x > 500 else 0) ^ 0xFF


def _collatz(value: int) -> int:
    steps = 0
    while value > 1:
        value = 3 * value + 1 if value % 2 else value // 2
        steps += 1
    return steps


def _broken(x: int) -> int:
    total = 0
    for j in range(40):
        if (x + j) % 7 == 0:
            continue
        if j > x % 37:
            break
        for k in range(j, 40, 5):
            if k * x % 11 == 3:
                break
            total += k
        else:
            total *= 3
        total = int(s32([total])[0]) ^ j
    return total


def _switched(x: int, i: int) -> int:
    """Compute all branches and select by x % 16; 10 and 15 take the default branch."""
    loop = i
    for k in range(x % 9):
        loop = loop * 5 + k
    ways = {
        0: i + x * x, 1: x // (i + 1), 2: 7 * (x - i) + 1, 3: 7 * i + 1, 4: x.bit_count() + i,
        5: (32 - x.bit_length()) * i, 6: x ^ (i << 3), 7: min(x, i) * 13, 8: x % (i + 3), 9: loop,
        11: ~x, 12: x & 0x55, 13: -1, 14: (x >> 2) - i,
    }  # fmt: skip
    return ways.get(x % 16, 99)
