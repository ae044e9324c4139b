"""Sums and extremes of a warp, a block and a grid."""

from __future__ import annotations

from functools import reduce
from operator import and_, or_, xor

import numpy as np

from tests.corpus.bound import Relative
from tests.corpus.case import Array, Case, In, Out, blocks, random, wrapped


def cases() -> list[Case]:
    r = random("reduction")
    whole = r.integers(-(2**20), 2**20, 5000).astype(np.int32)
    small = r.integers(-20, 100, 1024).astype(np.int32)
    real = r.normal(size=5000).astype(np.float32)
    double = r.normal(size=5000)
    shape = blocks(1024, 256)
    count = np.int32(5000)
    tickets = [
        Out((small.reshape(4, 256) > 0).sum(1).astype(np.int32)),
        Out(np.zeros(1, np.uint32)),
        Out(np.array([(small > 0).sum()], np.int32)),
    ]
    rows = small.reshape(16, 64)
    votes = np.stack([(rows > 10).all(1), (rows > 90).any(1), (rows % 2 != 0).sum(1)], 1).astype(np.int32)
    equal = np.round(real[:1000] * 4) / 4
    return [
        Case("warp_sums", [In(small), Out(small.reshape(-1, 32).sum(1, dtype=np.int32))], **shape),
        Case("block_sums", [In(small), Out(small.reshape(-1, 256).sum(1, dtype=np.int32))], **shape),
        Case(
            "grid_sum_int", [In(whole), Out(wrapped([whole.sum(dtype=np.int64)], np.int32)), count], **shape
        ),
        # n additions in any order: n units in the last place of the sum of magnitudes.
        Case(
            "grid_sum_float",
            [In(real), Out(_sum(real, np.float32), Relative(0, _spread(real, 2**-24))), count],
            **shape,
        ),
        Case(
            "grid_sum_double",
            [In(double), Out(_sum(double, np.float64), Relative(0, _spread(double, 2**-53))), count],
            **shape,
        ),
        Case("last_block_sums", [In(small), *tickets], **shape),
        Case("barrier_votes", [In(small), Out(votes)], grid=(16,), block=(64,)),
        Case(
            "argmax", [In(equal), Out(np.array([np.argmax(equal)], np.int32)), np.int32(1000)], block=(128,)
        ),
        Case(
            "warp_reduce",
            [In(small[:256]), Out(_halves(small[:256]))],
            minimum_target=80,
            grid=(4,),
            block=(64,),
        ),
    ]


def _sum(values: Array, dtype: type) -> Array:
    return np.array([values.sum(dtype=np.longdouble)]).astype(dtype)


def _spread(values: Array, unit: float) -> float:
    """The error of 50 roundings: no partial sum depends on more than 50 others."""
    return float(np.abs(values).sum(dtype=np.float64)) * unit * 50


def _halves(values: Array) -> Array:
    rows = []
    for half in values.reshape(-1, 16):
        signed, unsigned = half.tolist(), half.view(np.uint32).tolist()
        bits = [reduce(operation, unsigned) for operation in (and_, or_, xor)]
        row = [sum(signed), min(signed), max(signed), *bits, min(unsigned), max(unsigned)]
        rows += [row] * 16
    return wrapped(np.array(rows, object), np.int32)
