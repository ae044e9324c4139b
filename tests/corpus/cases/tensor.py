"""Matrix products by a warp. Sums of small whole numbers are exact in any order and width. One product of real numbers,
computed in halves, bounds how tensor cores may round."""

from __future__ import annotations

import numpy as np

from tests.corpus.bound import Relative
from tests.corpus.case import Array, Case, In, Out, random


def cases() -> list[Case]:
    return [
        *_wmma(),
        _mma("mma_half", np.float16, 8, minimum_target=75, start=0.5),
        _mma("mma_half_16", np.float16, 16),
        _mma("mma_bfloat_16", np.uint16, 16),
        _mma("mma_tf32", np.float32, 4),
        _real(),
        _bytes(),
        _load_matrices(),
    ]


def _small(name: str, *shape: int) -> Array:
    return random(name).integers(-8, 9, shape).astype(np.float64)


def _as(values: Array, dtype: type) -> Array:
    """numpy has no bfloat16. The bfloat16 of a small whole number is the upper half of its float."""
    if dtype is np.uint16:
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return np.ascontiguousarray(values.astype(dtype))


def _by_columns(values: Array, dtype: type) -> In:
    return In(_as(np.ascontiguousarray(values.T), dtype))


def _wmma() -> list[Case]:
    a, b, c = (_small(f"wmma {k}", 16, 16) for k in range(3))
    tall, flat = _small("wmma tall", 32, 16), _small("wmma flat", 16, 8)
    thin, short = a[:, :8], b[:8, :]
    left, half = In(_as(a, np.float16)), np.float16
    total = (a @ b).astype(np.float32)
    return [
        Case(
            "wmma_half",
            [left, _by_columns(b, half), In(c.astype(np.float32)), Out(_as(a @ b + c, np.float32))],
        ),
        Case(
            "wmma_half_half",
            [_by_columns(tall, half), In(_as(flat, half)), Out(_as((tall @ flat + 1).T, half))],
        ),
        Case(
            "wmma_bytes",
            [
                In(_as(a * 15, np.int8)),
                _by_columns(b * 15, np.int8),
                Out((225 * (a @ b) - 3).astype(np.int32)),
            ],
        ),
        Case("wmma_bfloat", [In(_as(a, np.uint16)), In(_as(b, np.uint16)), Out(total)], minimum_target=80),
        Case(
            "wmma_tf32",
            [In(_as(thin, np.float32)), _by_columns(short, np.float32), Out(_as(thin @ short, np.float32))],
            minimum_target=80,
        ),
    ]


def _mma(kernel: str, dtype: type, depth: int, minimum_target: int = 80, start: float = 0) -> Case:
    a, b = _small(kernel, 16, depth), _small(f"{kernel} b", depth, 8)
    out = Out((a @ b + start).astype(np.float32))
    return Case(kernel, [In(_as(a, dtype)), _by_columns(b, dtype), out], minimum_target=minimum_target)


def _real() -> Case:
    """Products are exact. Sums keep at least 2^-22 of the largest term and may be truncated."""
    r = random("mma real")
    a, b = r.normal(size=(16, 16)).astype(np.float16), r.normal(size=(16, 8)).astype(np.float16)
    x, y = a.astype(np.float64), b.astype(np.float64)
    bound = Relative(0, np.abs(x) @ np.abs(y) * 16 * 2**-22)
    out = Out((x @ y).astype(np.float32), bound)
    return Case("mma_half_16", [In(a), _by_columns(b, np.float16), out], minimum_target=80, variant="real")


def _bytes() -> Case:
    r = random("mma bytes")
    a, b = r.integers(-128, 128, (2, 8, 16)).astype(np.int8)
    out = a.astype(np.int32) @ b.astype(np.int32).T + 7
    return Case("mma_bytes", [In(a), In(b), Out(out)])


def _load_matrices() -> Case:
    """Lane l gets elements 2(l%4) and 2(l%4)+1 of row l/4 of each 8x8 tile; of column l/4 of transposed tiles."""
    tile = random("ldmatrix").integers(0, 2**16, (16, 16)).astype(np.uint16)
    parts = [tile[:8, :8], tile[8:, :8], tile[:8, 8:], tile[8:, 8:], tile[:8, :8].T, tile[8:, :8].T]
    words = [np.ascontiguousarray(part).view(np.uint32).ravel() for part in parts]
    return Case("load_matrices", [In(tile), Out(np.stack(words, 1))])
