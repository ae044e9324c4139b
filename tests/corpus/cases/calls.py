"""Functions that are not inlined: recursion, indirect calls, virtual methods, structures."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from tests.corpus.case import Case, In, Out, blocks, random, table


def cases() -> list[Case]:
    r = random("calls")
    values = r.integers(0, 1000, 64).astype(np.int32)
    real = np.round(r.normal(size=64) * 64) / 64
    lanes = np.arange(64)
    turned = values.copy()
    for warp in (0, 32):
        turned[warp : warp + 16] = values[warp + (np.arange(16) + 4) % 16]
    pairs = np.array([_combined(v, i) for i, v in enumerate(real.tolist())])
    deep = np.array([(20 + i) * (21 + i) // 2 for i in range(64)])
    shape = blocks(64)
    return [
        Case(
            "recursion", [In(values), Out(table(lambda x: [_fibonacci(x % 12)], np.int32, values))], **shape
        ),
        Case("mutual_recursion", [Out((2 - lanes[:32] % 2).astype(np.int32))]),
        Case("frames", [Out(np.array([_frames(i) for i in range(32)], np.int32))]),
        Case("function_pointers", [In(values), Out(table(_chosen, np.int32, values, lanes))], **shape),
        Case("virtual_methods", [In(values), Out(table(_described, np.int32, values, lanes))], **shape),
        Case("structures", [In(real), Out(pairs)], **shape),
        Case("collective_in_a_function", [In(values), Out(turned)], block=(64,)),
        Case("deep_recursion", [Out(deep)], block=(64,)),
    ]


def _fibonacci(n: int) -> int:
    return n if n < 2 else _fibonacci(n - 1) + _fibonacci(n - 2)


def _frames(lane: int) -> int:
    n = 2 + lane % 4
    items = [(i * (lane + 2)) % 5 for i in range(n)]
    return sum(each[0] < each[-1] for each in permutations(items))


def _chosen(x: int, i: int) -> list[int]:
    def operation(which: int, a: int, b: int) -> int:
        return [a + b, a - b, a * b, max(a, b)][which]

    return [operation(x & 3, x, i) + operation(x >> 2 & 3, i, 5)]


def _described(x: int, i: int) -> list[int]:
    return [10 * x * x + 4 if x % 2 else 10 * (x * i // 2) + 3]


def _char(value: int) -> int:
    return (value + 128) % 256 - 128


def _combined(value: float, i: int) -> list[float]:
    """Two calls: c = combine(a, &b, -1), d = combine(c, &a, 3)."""
    a, b = [1, 2, 3, 4, 5], [5, 6, 7, 8, _char(i)]
    c = [_char(a[k] + b[4 - k] - 1) for k in range(5)]
    d = [_char(c[k] + a[4 - k] + 3) for k in range(5)]
    return [(value * 2 + 0.5) * 2 + value, i + i - i, d[0] + 100 * d[4]]
