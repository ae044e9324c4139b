"""Half precision and bfloat16: arithmetic exactly rounded, functions within two units."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from tests.corpus.bound import EXACT, Ulp, decoded
from tests.corpus.case import Array, Case, In, Out, blocks, random
from tests.unit.ptx.single import F16, Format

N = 256
Operation = Callable[..., Fraction]


def bits(name: str, form: Format, n: int = N) -> Array:
    """Bit patterns near one and of every magnitude, without infinities."""
    r = random(name)
    near = (form.bias - 3 << form.fraction) + r.integers(0, 6 << form.fraction, n)
    wide = r.integers(0, form.infinity, n)
    result = np.where(r.random(n) < 0.7, near, wide) | r.integers(0, 2, n) << 15
    result[:3] = [0, 1, form.infinity - 1]
    return np.asarray(r.permutation(result), np.uint16)


def fractions(words: Array, form: Format) -> list[Fraction]:
    return [form.value(int(each)) for each in words]


def rounded(form: Format, operation: Operation, *sources: Array) -> Array:
    """Computed exactly and rounded once. Zeros are positive: no input here gives a negative zero."""
    rows = zip(*(fractions(each, form) for each in sources), strict=True)
    return np.array([form.rounded(operation(*row)) for row in rows], np.uint16)


def product(form: Format, x: Array, y: Array) -> Array:
    """A product; zeros have the sign of the product."""
    signed: Array = rounded(form, operator.mul, x, y) | (x ^ y) & 0x8000
    return signed


def order(x: Array, y: Array, largest: bool) -> Array:
    """Minimum or maximum; -0 is less than +0."""
    rank = [np.where(each & 0x8000, -(each.astype(int) & 0x7FFF) - 1, each) for each in (x, y)]
    return np.where((rank[0] > rank[1]) == largest, x, y).astype(np.uint16)


def saturated(form: Format, words: Array) -> Array:
    """Clamp to [0, 1]."""
    one = form.bias << form.fraction
    return np.where(words & 0x8000, 0, np.minimum(words, one)).astype(np.uint16)


def pack(*columns: Array) -> Array:
    return np.ascontiguousarray(np.stack(columns, -1))


def cases() -> list[Case]:
    return [_arithmetic(), _pairs(), _compare(), _convert(), _pack(), _math(), _axpy()]


def _sources(name: str, form: Format, n: int = N) -> list[Array]:
    """Three arrays without zero sums: the sign of x + -x depends on the rounding mode."""
    a, b, c = (bits(f"{name}{k}", form, n) for k in range(3))
    return [a, b, np.where(c & 0x7FFF, c, 1).astype(np.uint16)]


def fma(x: Fraction, y: Fraction, z: Fraction) -> Fraction:
    return x * y + z


def _arithmetic() -> Case:
    a, b, c = _sources("half", F16)
    total, fused = rounded(F16, operator.add, a, b), rounded(F16, fma, a, b, c)
    out = pack(
        total, rounded(F16, operator.sub, a, b), product(F16, a, b), fused, a ^ 0x8000, a & 0x7FFF,
        order(a, b, False), order(a, b, True), saturated(F16, total), saturated(F16, fused),
    )  # fmt: skip
    return Case("half_arithmetic", [In(a), In(b), In(c), Out(out)], **blocks(N))


def _pairs() -> Case:
    a, b, c = _sources("half2", F16, 2 * N)
    rows = [
        rounded(F16, operator.add, a, b), rounded(F16, operator.sub, a, b), product(F16, a, b),
        rounded(F16, fma, a, b, c), a ^ 0x8000, order(a, b, False),
        pack(a[::2], b[::2]).ravel(), pack(a[1::2], a[::2]).ravel(),
    ]  # fmt: skip
    out = pack(*(row.view(np.uint32) for row in rows))
    return Case("half2_arithmetic", [In(a), In(b), In(c), Out(out)], **blocks(N))


def edges(name: str, form: Format) -> Array:
    """Pairs that include equal values, infinities and NaNs."""
    words = bits(name, form, 2 * N)
    words[: 2 * N : 3] = 1 + (form.bias << form.fraction)
    words[5::37] = form.infinity
    words[6::41] = form.infinity | 0x8000
    words[7::31] = form.infinity + 1
    return words


def compared(form: Format, infinite: bool) -> list[Array]:
    """The inputs, the comparisons of low halves as bits and of both halves, and the masks of < and ==."""
    x, y = edges("compare a", form), edges("compare b", form)
    v, w = (decoded(each, form).astype(np.float64) for each in (x, y))
    low, other = v[::2], w[::2]
    tests: list[Any] = [
        low == other, low < other, low >= other, ~(low >= other), ~(low == other), np.isnan(low),
    ]  # fmt: skip
    single: Array = np.zeros(N, np.uint32)
    for k, test in enumerate(tests):
        single += np.asarray(test, np.uint32) << k
    if infinite:
        single = single + 64 * np.select([low == np.inf, low == -np.inf], [2, 0], 1).astype(np.uint32)
    greater, less = (v > w).reshape(-1, 2).all(1), (v <= w).reshape(-1, 2).all(1)
    masks = [np.where(test, 0xFFFF, 0).astype(np.uint16).view(np.uint32) for test in (v < w, v == w)]
    return [x, y, np.asarray(single, np.uint32), greater + 2 * less.astype(np.uint32), *masks]


def _compare() -> Case:
    with np.errstate(invalid="ignore"):
        x, y, *columns = compared(F16, True)
    return Case("half_compare", [In(x), In(y), Out(pack(*columns))], **blocks(N))


def singles(name: str) -> Array:
    r = random(name)
    return (r.normal(size=N) * 10.0 ** r.integers(-8, 5, N)).astype(np.float32)


def modes(form: Format, values: list[Fraction]) -> list[Array]:
    return [np.array([form.rounded(v, mode) for v in values], np.uint16) for mode in ("rn", "rz", "rp", "rm")]


def _convert() -> Case:
    real = singles("half convert")
    whole = random("half whole").integers(-(2**17), 2**17, N).astype(np.int32)
    exact = [Fraction(float(v)) for v in real]
    columns = modes(F16, exact)
    columns.append(modes(F16, [Fraction(int(v)) for v in whole])[0])
    columns.append(modes(F16, [Fraction(int(v)) for v in whole.astype(np.uint16)])[0])
    halves = columns[0].view(np.float16)
    columns.append(np.rint(halves).view(np.uint16))
    # The product is a float: float times double constant is a double.
    columns.append(modes(F16, [Fraction(float(v) * 1.0000001) for v in real])[0])
    wide = halves.astype(np.float64)
    with np.errstate(invalid="ignore"):
        ints = pack(
            np.clip(np.rint(wide), -(2.0**31), 2.0**31 - 1), np.clip(np.trunc(wide), 0, 2.0**32 - 1),
            np.clip(np.floor(wide), -(2.0**15), 2.0**15 - 1),
        ).astype(np.int64).astype(np.int32)  # fmt: skip
    outs = [Out(pack(*columns)), Out(halves.astype(np.float32)), Out(ints)]
    return Case("half_convert", [In(real), In(whole), *outs], **blocks(N))


def _pack() -> Case:
    real = np.concatenate([singles("half pack a"), singles("half pack b")])
    halves = modes(F16, [Fraction(float(v)) for v in real])[0]
    turned = halves.view(np.float16).astype(np.float32).reshape(-1, 2)[:, ::-1]
    return Case("half_pack", [In(real), Out(halves), Out(np.ascontiguousarray(turned))], **blocks(N))


def _math() -> Case:
    """Within two units of half precision: functions are computed in float and rounded again."""
    x = random("half math").uniform(0.01, 9, N).astype(np.float16)
    v = x.astype(np.float64)
    columns = [np.sqrt(v), 1 / np.sqrt(v), 1 / v, np.exp(v), np.log(v), np.sin(v), np.cos(v), v / 3]
    out = pack(*columns).astype(np.float16)
    return Case("half_math", [In(x), Out(out, Ulp(2))], **blocks(N))


def _axpy() -> Case:
    x, y, _ = _sources("half axpy", F16, 2 * N)
    factor = np.full(2 * N, F16.rounded(Fraction(11, 8)), np.uint16)
    out = rounded(F16, fma, factor, x, np.where(y & 0x7FFF, y, 1).astype(np.uint16))
    start = np.where(y & 0x7FFF, y, 1).astype(np.uint16)
    return Case("half_axpy", [np.float16(1.375), In(x), Out(out, EXACT, start)], **blocks(N))
