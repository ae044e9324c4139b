"""Every atomic operation on every type. Sums of whole numbers are exact in any order."""

from __future__ import annotations

from functools import reduce
from math import prod
from operator import and_, or_, xor
from typing import Any

import numpy as np

from tests.corpus.bound import EXACT, Holds, Relative
from tests.corpus.case import Array, Case, In, Out, blocks, random, wrapped

N = 256
D = 2**64


def cases() -> list[Case]:
    r = random("atomics")
    ints = r.integers(-(2**31), 2**31, N).astype(np.int32)
    words = ints.view(np.uint32)
    longs = r.integers(-(2**63), 2**63 - 1, N)
    small = r.integers(0, 500, N).astype(np.int32)
    shape = blocks(N)
    return [
        _whole("atomics_int", ints, [wrapped([-int(ints.sum(dtype=np.int64))], np.int32)[0]]),
        # 256 increments that wrap after 9; 256 decrements that wrap from 0 to 12.
        _whole("atomics_unsigned", words, [N % 10, -N % 13]),
        _whole("atomics_unsigned_long", longs.view(np.uint64), []),
        _long(longs),
        _shared(small),
        _old(),
        _exchange(),
        # Each visit of a cell doubles it and adds one, starting from k.
        Case("atomics_cas_16", [_cells()], **shape),
        Case(
            "atomics_cas_loop",
            [
                In(words),
                Out(wrapped([prod(int(w) | 1 for w in words)], np.uint32), EXACT, np.ones(1, np.uint32)),
                Out(np.array([int(words.sum(dtype=np.uint64))], np.uint64)),
            ],
            **shape,
        ),
        _real(),
        *_halves(small),
        _scopes(small),
        Case(
            "release_acquire",
            [
                Out(np.arange(64, dtype=np.int32) * 3),
                Out(np.ones(1, np.int32)),
                Out(np.arange(64, dtype=np.int32) * 3 + 1),
            ],
            grid=(2,),
            block=(64,),
        ),
        Case(
            "red_instructions",
            [In(small), Out(np.array([small.sum(), reduce(or_, small.tolist()), small.max()], np.int32))],
            **shape,
        ),
    ]


def _folded(values: Array) -> list[int]:
    """The results of add, min, max, and, or, xor in cells that start at 0, 0, 0, -1, 0, 0."""
    numbers, bits = values.tolist(), 8 * values.dtype.itemsize
    ones = [v | 0xF0 for v in numbers]
    low = min(0, *numbers)
    return [
        sum(numbers), low, max(0, *numbers), reduce(and_, ones, 2**bits - 1) % 2**bits,
        reduce(or_, [v & 0x5555 for v in numbers]), reduce(xor, numbers),
    ]  # fmt: skip


def _whole(kernel: str, values: Array, more: list[Any]) -> Case:
    start = np.zeros(6 + len(more), values.dtype)
    start[3:4] = wrapped([-1], values.dtype)
    start[1] = start[2] = values[0]
    result = _folded(values)
    result[1:3] = [min(values.tolist()), max(values.tolist())]
    out = wrapped(np.array([*result, *map(int, more)], object), values.dtype)
    return Case(kernel, [In(values), Out(out, EXACT, start)], **blocks(N))


def _long(values: Array) -> Case:
    numbers = values.tolist()
    out = [min(0, *numbers), max(0, *numbers), reduce(and_, numbers), reduce(xor, numbers)]
    start = np.array([0, 0, -1, 0])
    return Case("atomics_long", [In(values), Out(np.array(out), EXACT, start)], **blocks(N))


def _shared(values: Array) -> Case:
    rows = []
    for block in values.reshape(-1, 64):
        add, _, most, every, some, odd = _folded(block)
        low = min(1000000, *block.tolist())
        real = int((block & 15).sum())
        rows.append([add, low, most, every, some, odd, 64 % 7, add, int(block.max()), real])
    out = wrapped(np.array(rows, object), np.int32)
    return Case("atomics_shared", [In(values), Out(out)], **blocks(N))


def _old() -> Case:
    """atomicAdd returns each number once; atomicExch returns all exchanged values but the last."""
    return Case(
        "atomics_old",
        [
            Out(np.array([N], np.int32)),
            Out(np.ones(N, np.int32)),
            Out(
                np.zeros(1, np.int32),
                Holds("one of the threads", lambda actual: bool(0 <= actual[0] < N)),
                np.full(1, -1, np.int32),
            ),
            Out(
                np.zeros(N, np.int32),
                Holds(
                    "every thread but one", lambda actual: bool(actual.max() == 1 and actual.sum() == N - 1)
                ),
            ),
        ],
        **blocks(N),
    )


def _exchange() -> Case:
    n = np.arange(N)
    start = np.full(N, 3, np.int32)
    bits = np.uint64(1) << (n % 64).astype(np.uint64)
    # The first exchange returns the initial 3; the second adds the value of the cell.
    out = wrapped([3 + int(bit) for bit in bits], np.int32)
    swapped = np.where(bits == 8, np.uint64(64), bits)
    return Case(
        "atomics_exchange",
        [Out((n * 0.5).astype(np.float32)), Out(swapped), Out(out, EXACT, start)],
        **blocks(N),
    )


def _cells() -> Out:
    start = np.arange(6).astype(np.uint16)
    met = np.bincount(np.arange(N) % 6, minlength=6)
    out = [(int(k + 1) * 2 ** int(m) - 1) % 65536 for k, m in zip(start, met, strict=True)]
    return Out(np.array(out, np.uint16), EXACT, start)


def _real() -> Case:
    """256 additions, each rounded once with an error relative to the sum of magnitudes."""
    r = random("atomics_real")
    x, y = r.normal(size=N).astype(np.float32), r.normal(size=N)
    single = Relative(0, float(np.abs(x).sum(dtype=np.float64)) * N * 2**-24)
    double = Relative(0, float(np.abs(y).sum()) * N * 2**-53)
    outs = [
        Out(np.array([x.sum(dtype=np.float64)], np.float32), single),
        Out(np.array([y.sum(dtype=np.longdouble)], np.float64), double),
    ]
    return Case("atomics_real", [In(x), In(y), *outs], **blocks(N))


def _halves(values: Array) -> list[Case]:
    """Sums that fit the format exactly: below 2048 in half precision, below 256 in bfloat16."""
    n = np.arange(N)
    low, high = (values & 3).astype(np.float64), (values & 7).astype(np.float64)

    def sums(cells: int, what: Array) -> Array:
        return np.bincount(n % cells, what, cells)

    def brain(reals: Array) -> Array:
        return (reals.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)

    pair, single = np.stack([sums(4, low), sums(4, high)], 1), sums(5, low)
    wide, narrow = np.stack([sums(16, low), sums(16, high)], 1), sums(17, low)
    return [
        Case(
            "atomics_half",
            [In(values), Out(pair.astype(np.float16)), Out(single.astype(np.float16))],
            **blocks(N),
        ),
        Case("atomics_bfloat", [In(values), Out(brain(wide)), Out(brain(narrow))], **blocks(N)),
    ]


def _scopes(values: Array) -> Case:
    out = np.zeros(8, np.int32)
    out[0], out[1:5], out[7] = values.sum(), values.reshape(4, 64).sum(1), values.max()
    return Case("atomics_scopes", [In(values), Out(out)], **blocks(N))
