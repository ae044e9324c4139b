"""One element per thread: arithmetic, vector loads, cache hints, structures by value."""

from __future__ import annotations

import numpy as np

from tests.corpus.bound import Ulp
from tests.corpus.case import Case, In, Out, Struct, blocks, random, s32


def cases() -> list[Case]:
    r = random("elementwise")
    n = 256
    x, y = r.normal(size=(2, 1000)).astype(np.float32)
    a = np.float32(2.5)
    fused = (np.float64(a) * x + y).astype(np.float32)
    small = r.integers(-1000, 1000, 1000).astype(np.int32)
    rgb = r.integers(0, 256, (1000, 3), dtype=np.uint8)
    return [
        Case(
            "saxpy",
            [Out(fused, initial=y), In(x), a, np.int32(1000)],
            grid=(8,),
            block=(128,),
        ),
        Case(
            "grid_stride",
            [Out(3 * small - np.arange(1000, dtype=np.int32)), In(small), np.int32(1000)],
            grid=(3,),
            block=(64,),
        ),
        # Three products and two sums, at most five roundings of the largest partial sum.
        Case(
            "grey",
            [
                In(rgb),
                Out((rgb @ np.array([0.299, 0.587, 0.114])).astype(np.float32), Ulp(5)),
                np.int32(1000),
            ],
            grid=(4,),
            block=(256,),
        ),
        three_axes(),
        vector_loads(),
        Case("cache_hints", [In(small[:n]), Out(small[:n, None] * 15 + s32(range(4)))], **blocks(n)),
        Case("volatile_accesses", [Out(2 * small[:n] + 1), In(small[:n])], **blocks(n)),
        small_types(),
        structure_by_value(),
    ]


def three_axes() -> Case:
    depth, height, width = 4, 6, 16
    z, y, x = np.mgrid[:depth, :height, :width].astype(np.int32)
    out = Out(x + 100 * y + 10000 * z)
    return Case("three_axes", [out, np.int32(width), np.int32(height)], grid=(2, 3, 2), block=(8, 2, 2))


def vector_loads() -> Case:
    r, n = random("vector_loads"), 128
    x = r.normal(size=(n, 4)).astype(np.float32)
    y = r.integers(-(2**31), 2**31, (n, 2)).astype(np.int32)
    wide = x.astype(np.float64)
    out = np.stack([wide[:, 0] + wide[:, 1] + y[:, 0], wide[:, 2] - wide[:, 3] + y[:, 1]], 1)
    split = np.stack([y[:, 0], y[:, 1], y[:, 0] >> 8, y[:, 1] >> 8], 1).astype(np.uint8)
    return Case("vector_loads", [In(x), In(y), Out(out), Out(split)], **blocks(n))


def small_types() -> Case:
    r, n = random("small_types"), 256
    a = np.arange(-128, 128).astype(np.int8)
    b = r.integers(0, 2**16, n).astype(np.uint16)
    c = r.integers(-(2**15), 2**15, n).astype(np.int16)
    product = (a.astype(np.int64) * 3).astype(np.int8)
    total = (b.astype(np.int64) + 65000).astype(np.uint16)
    shifted = (c.astype(np.int64) << 2).astype(np.int16)
    out = product + 1000 * total.astype(np.int64) + 10**9 * shifted.astype(np.int64)
    return Case("small_types", [In(a), In(b), In(c), Out(out)], **blocks(n))


def structure_by_value() -> Case:
    n = 64
    table = random("structure").integers(-50, 50, n).astype(np.int32)
    scale = np.array([0.5, -2, 4], np.float32)
    options = Struct(
        48,
        {
            0: scale[0], 4: scale[1], 8: scale[2],
            16: np.int8(65), 24: np.float64(1.25), 32: np.int16(-7), 40: In(table),
        },
    )  # fmt: skip
    other = Struct(16, {0: np.int8(3), 8: np.float64(0.125)})
    i = np.arange(n)
    out = -2 * (scale[i % 3].astype(np.float64) * 1.25 + 65) - 7 + table + 3 * 0.125
    return Case("structure_by_value", [options, np.int8(-2), other, Out(out)], **blocks(n))
