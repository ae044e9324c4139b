"""bfloat16: arithmetic exactly rounded, functions within two units."""

from __future__ import annotations

import operator
from fractions import Fraction

import numpy as np

from tests.corpus.bound import Ulp, decoded
from tests.corpus.case import Array, Case, In, Out, blocks, random
from tests.corpus.cases.half import (
    N,
    bits,
    compared,
    fma,
    modes,
    order,
    pack,
    product,
    rounded,
    saturated,
    singles,
)
from tests.unit.ptx.single import BF16


def cases() -> list[Case]:
    return [_arithmetic(), _pairs(), _fused(), _compare(), _convert(), _pack(), _math()]


def _sources(name: str, n: int = N) -> list[Array]:
    a, b, c = (bits(f"{name}{k}", BF16, n) for k in range(3))
    return [a, b, np.where(c & 0x7FFF, c, 1).astype(np.uint16)]


def _arithmetic() -> Case:
    a, b, _ = _sources("bfloat")
    out = pack(
        rounded(BF16, operator.add, a, b), rounded(BF16, operator.sub, a, b), product(BF16, a, b),
        a ^ 0x8000, a & 0x7FFF, order(a, b, False), order(a, b, True),
    )  # fmt: skip
    return Case("bfloat_arithmetic", [In(a), In(b), Out(out)], **blocks(N))


def _pairs() -> Case:
    a, b, _ = _sources("bfloat2", 2 * N)
    rows = [
        rounded(BF16, operator.add, a, b), rounded(BF16, operator.sub, a, b), product(BF16, a, b),
        order(a, b, True),
    ]  # fmt: skip
    return Case(
        "bfloat2_arithmetic",
        [In(a), In(b), Out(pack(*(row.view(np.uint32) for row in rows)))],
        **blocks(N),
    )


def _fused() -> Case:
    """relu turns negative results into zero; the last column swaps the halves of a and b."""
    a, b, c = _sources("bfloat fused", 2 * N)
    crossed = b.reshape(-1, 2)[:, ::-1].ravel()
    plain, other = rounded(BF16, fma, a, b, c), rounded(BF16, fma, a, crossed, c)
    values = np.where(plain & 0x8000, 0, plain).astype(np.uint16)
    mixed = np.where(np.arange(2 * N) % 2 & (other >> 15), 0, other).astype(np.uint16)
    rows = [plain, values, saturated(BF16, plain), mixed]
    out = pack(*(row.view(np.uint32) for row in rows))
    return Case("bfloat_fused", [In(a), In(b), In(c), Out(out)], minimum_target=80, **blocks(N))


def _compare() -> Case:
    with np.errstate(invalid="ignore"):
        x, y, single, both, less, _ = compared(BF16, False)
    return Case("bfloat_compare", [In(x), In(y), Out(pack(single, both, less))], **blocks(N))


def _convert() -> Case:
    real = singles("bfloat convert")
    whole = random("bfloat whole").integers(-(2**31), 2**31, N).astype(np.int32)
    columns = modes(BF16, [Fraction(float(v)) for v in real])
    columns.append(modes(BF16, [Fraction(int(v)) for v in whole])[0])
    columns.append(modes(BF16, [Fraction(float(v) * 1.0000001) for v in real])[0])
    back = decoded(columns[0], BF16)
    ints = pack(np.rint(back), np.trunc(back)).astype(np.int32)
    outs = [Out(pack(*columns)), Out(back), Out(ints)]
    return Case("bfloat_convert", [In(real), In(whole), *outs], **blocks(N))


def _pack() -> Case:
    real = np.concatenate([singles("bfloat pack a"), singles("bfloat pack b")])
    halves = modes(BF16, [Fraction(float(v)) for v in real])[0]
    turned = decoded(halves, BF16).reshape(-1, 2)[:, ::-1]
    return Case("bfloat_pack", [In(real), Out(halves), Out(np.ascontiguousarray(turned))], **blocks(N))


def _math() -> Case:
    """Within two units of bfloat16: functions are computed in float and rounded again."""
    real = random("bfloat math").uniform(0.01, 9, N)
    x = modes(BF16, [Fraction(v) for v in real])[0]
    v = decoded(x, BF16).astype(np.float64)
    reference = pack(np.sqrt(v), 1 / v, np.exp(v), np.log(v), np.cos(v), v / 3)
    flat = np.array([BF16.rounded(Fraction(float(each))) for each in reference.ravel()], np.uint16)
    out = Out(flat.reshape(reference.shape), Ulp(2, form=BF16))
    return Case("bfloat_math", [In(x), out], **blocks(N))
