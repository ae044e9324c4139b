"""Special values: infinities, NaNs, signed zeros, subnormals, and bit casts."""

from __future__ import annotations

import numpy as np

from tests.corpus.case import Array, Case, In, Out, blocks, random

EDGES = np.array(
    [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1e-38, 3.4e38, -3.4e38, 0.5, 2, 1.5, -2.5],
    np.float32,
)


def special_cases() -> list[Case]:
    r = random("special")
    a, b = (each.ravel() for each in np.meshgrid(EDGES, EDGES))
    x, y = r.normal(size=128).astype(np.float32), r.normal(size=128)
    words = np.stack([x.view(np.int32), (y.view(np.int64) >> 32), y.view(np.int64).astype(np.int32)], 1)
    joined = (y.view(np.int64) >> 32 << 32) | x.view(np.uint32)
    return [
        Case("special_values", [In(a), In(b), Out(_chosen(a, b)), Out(_compared(a, b))], **blocks(256)),
        Case(
            "bit_casts",
            [In(x), In(y), Out(words.astype(np.int32)), Out(joined.view(np.float64))],
            **blocks(128),
        ),
        flush_to_zero(),
    ]


def _chosen(x: Array, y: Array) -> Array:
    """minNum and maxNum. In CUDA -0 is less than +0, and saturation turns NaN into zero."""
    smaller, larger = np.fmin(x, y), np.fmax(x, y)
    zeros = (x == 0) & (y == 0)
    smaller = np.where(
        zeros, np.where(np.signbit(x) | np.signbit(y), np.float32(-0.0), np.float32(0)), smaller
    )
    larger = np.where(zeros, np.where(np.signbit(x) & np.signbit(y), np.float32(-0.0), np.float32(0)), larger)
    clamped = np.where(np.isnan(x), 0, np.clip(x, 0, 1))
    clamped = np.where(clamped == 0, np.float32(0), clamped)
    return np.stack([smaller, larger, np.copysign(x, y), clamped], 1).astype(np.float32)


def _compared(x: Array, y: Array) -> Array:
    tests = [
        x < y, x <= y, x == y, x != y, ~(x > y), ~(x >= y), np.isnan(x), np.isinf(x), np.isfinite(y), np.signbit(x),
    ]  # fmt: skip
    return sum((test.astype(np.int32) << k for k, test in enumerate(tests)), np.zeros(len(x), np.int32))


def flush_to_zero() -> Case:
    """Subnormal operands and results become zeros of their sign; saturation gives +0."""
    r, n = random("flush"), 128
    a = (r.normal(size=n) * 10.0 ** r.integers(-44, -36, n)).astype(np.float32)
    b = (r.normal(size=n) * 10.0 ** r.integers(-3, 2, n)).astype(np.float32)
    b[:40] = (r.normal(size=40) * 10.0 ** r.integers(-44, -37, 40)).astype(np.float32)
    small = np.float64(np.finfo(np.float32).tiny)

    def flushed(values: Array) -> Array:
        return np.where(np.abs(values) < small, np.copysign(0, values), values)

    p, q = flushed(a.astype(np.float64)), flushed(b.astype(np.float64))
    product = a.astype(np.float64) * b
    fused = np.clip(flushed(p * q + p).astype(np.float32), np.float32(0), np.float32(1)) + np.float32(0)
    out = np.stack(
        [product.astype(np.float32), flushed(p * q), flushed((p + q).astype(np.float32)), fused], 1
    )
    return Case("flush_to_zero", [In(a), In(b), Out(out.astype(np.float32))], **blocks(n))
