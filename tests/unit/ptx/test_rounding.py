"""Compare each rounded operation with exact fractions, bit for bit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from tests.unit.ptx.engine import Engine
from tests.unit.ptx.single import BF16, F16, F32, F64, Format, apply

FORMATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}
COUNT = 1000


def finite(form: Format, seed: int) -> npt.NDArray[np.unsignedinteger[npt.NBitBase]]:
    """Bit patterns over the whole range, with zeros, subnormals and both ends, many of them close together."""
    random = np.random.default_rng(seed)
    dtype = f"u{form.bits // 8}"
    bits = random.integers(0, form.infinity, COUNT, dtype=np.uint64)
    near = (form.bias << form.fraction) + random.integers(
        -(2**form.fraction), 2**form.fraction * 2, COUNT // 2
    )
    bits[: COUNT // 2] = near.astype(np.uint64)
    bits[:6] = [0, 1, 2**form.fraction - 1, 2**form.fraction, form.infinity - 1, form.bias << form.fraction]
    bits |= random.integers(0, 2, COUNT, dtype=np.uint64) << np.uint64(form.bits - 1)
    random.shuffle(bits)
    return bits.astype(dtype)


def values(form: Format, bits: npt.NDArray[np.unsignedinteger[npt.NBitBase]]) -> list[Fraction]:
    return [form.value(int(each)) for each in bits]


def differing(
    got: npt.NDArray[np.unsignedinteger[npt.NBitBase]], expected: list[int], *sources: list[Fraction]
) -> list[tuple[str, ...]]:
    return [
        (hex(one), hex(other), *(str(float(source[i])) for source in sources))
        for i, (one, other) in enumerate(zip(got.tolist(), expected, strict=True))
        if one != other
    ][:5]


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("name", FORMATS)
def test_arithmetic_is_correctly_rounded(engine: Engine, name: str, mode: str) -> None:
    if name in ("f16", "bf16") and mode != "rn":
        pytest.skip("PTX has no such instruction")
    form = FORMATS[name]
    bits = [finite(form, seed) for seed in (1, 2, 3)]
    a, b, c = (values(form, each) for each in bits)
    register = f"b{form.bits}"
    sums = [form.rounded(x + y, mode, mode == "rm") for x, y in zip(a, b, strict=True)]
    exact = [x != 0 or y != 0 for x, y in zip(a, b, strict=True)]
    actual = apply(engine, f"add.{mode}.{name} %d, %a, %b;", register, *bits[:2])
    assert not differing(actual[exact], [s for s, e in zip(sums, exact, strict=True) if e], a, b)
    actual = apply(engine, f"mul.{mode}.{name} %d, %a, %b;", register, *bits[:2])
    signs = [
        int(x) >> (form.bits - 1) != int(y) >> (form.bits - 1) for x, y in zip(bits[0], bits[1], strict=True)
    ]
    products = [form.rounded(x * y, mode, sign) for x, y, sign in zip(a, b, signs, strict=True)]
    assert not differing(actual, products, a, b)
    actual = apply(engine, f"fma.{mode}.{name} %d, %a, %b, %c;", register, *bits)
    selected = [x * y != 0 or z != 0 for x, y, z in zip(a, b, c, strict=True)]
    fused = [form.rounded(x * y + z, mode, mode == "rm") for x, y, z in zip(a, b, c, strict=True)]
    assert not differing(actual[selected], [f for f, k in zip(fused, selected, strict=True) if k])


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_fused_half_operation_is_rounded_once(engine: Engine, name: str) -> None:
    """A product half way between two results plus an addend that is too small for a double."""
    form = FORMATS[name]
    one = form.bias << form.fraction
    # 1.5 times (1 + ulp) is exactly half way between two results.
    a = np.array([one | 1 << (form.fraction - 1)] * 2, f"u{form.bits // 8}")
    b = np.array([one | 1] * 2, a.dtype)
    tiny = np.array([1, 1 | 1 << (form.bits - 1)], a.dtype)
    actual = apply(engine, f"fma.rn.{name} %d, %a, %b, %c;", f"b{form.bits}", a, b, tiny)
    expected = [
        form.rounded(x * y + z)
        for x, y, z in zip(values(form, a), values(form, b), values(form, tiny), strict=True)
    ]
    assert actual.tolist() == expected


def test_bfloat_sum_of_distant_values_is_correctly_rounded(engine: Engine) -> None:
    """A tie that 2^-100 breaks: the exact sum has more bits than a double."""
    one = np.full(2, BF16.rounded(Fraction(1)), np.uint16)
    half_unit = np.full(2, BF16.rounded(Fraction(1, 256)), np.uint16)
    expected = apply(engine, "add.rn.bf16 %d, %a, %b;", "b16", one, half_unit)
    assert expected.tolist() == [BF16.rounded(1 + Fraction(1, 256))] * 2
    odd = one | np.uint16(1)
    tails = [Fraction(1, 2**100), -Fraction(1, 2**100)]
    tail = np.array([BF16.rounded(each) for each in tails], np.uint16)
    # (1 + 2^-7) * (1 + 2^-1) is half way between two bfloats.
    factor = np.full(2, BF16.rounded(Fraction(3, 2)), np.uint16)
    actual = apply(engine, "fma.rn.bf16 %d, %a, %b, %c;", "b16", odd, factor, tail)
    assert actual.tolist() == [BF16.rounded((1 + Fraction(1, 128)) * Fraction(3, 2) + each) for each in tails]


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("name", ["f32", "f64"])
def test_quotient_and_root_are_correctly_rounded(engine: Engine, name: str, mode: str) -> None:
    form = FORMATS[name]
    bits = [finite(form, seed) for seed in (4, 5)]
    bits[1] |= np.array(1, bits[1].dtype)  # no zeros
    a, b = (values(form, each) for each in bits)
    signs = [
        int(x) >> (form.bits - 1) != int(y) >> (form.bits - 1) for x, y in zip(bits[0], bits[1], strict=True)
    ]
    actual = apply(engine, f"div.{mode}.{name} %d, %a, %b;", f"b{form.bits}", *bits)
    assert not differing(
        actual, [form.rounded(x / y, mode, s) for x, y, s in zip(a, b, signs, strict=True)], a, b
    )
    actual = apply(engine, f"rcp.{mode}.{name} %d, %a;", f"b{form.bits}", bits[1])
    assert not differing(actual, [form.rounded(1 / y, mode) for y in b], b)


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize(
    ("source", "target"), [("f64", "f32"), ("f32", "f16"), ("f32", "bf16"), ("f64", "f16")]
)
def test_narrowing_conversion_is_correctly_rounded(
    engine: Engine, source: str, target: str, mode: str
) -> None:
    if target == "bf16" and mode in ("rm", "rp"):
        pytest.skip("PTX has no such instruction")
    wide, narrow = FORMATS[source], FORMATS[target]
    bits = finite(wide, 6)
    near = np.random.default_rng(7).integers(-30, 20, COUNT // 2).astype(np.int64)
    exponents = (near + wide.bias).astype(bits.dtype) << bits.dtype.type(wide.fraction)
    bits[: COUNT // 2] = exponents | (bits[: COUNT // 2] & bits.dtype.type(2**wide.fraction - 1))
    a = values(wide, bits)
    negative = [int(each) >> (wide.bits - 1) != 0 for each in bits]
    actual = apply(engine, f"cvt.{mode}.{target}.{source} %d, %a;", f"b{narrow.bits}", bits)
    assert not differing(
        actual, [narrow.rounded(x, mode, sign) for x, sign in zip(a, negative, strict=True)], a
    )


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("target", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("source", ["s32", "u32", "s64", "u64"])
def test_integer_conversion_is_correctly_rounded(engine: Engine, source: str, target: str, mode: str) -> None:
    form, count = FORMATS[target], int(source[1:])
    random = np.random.default_rng(8)
    bits = (
        random.integers(0, 2**count, COUNT, dtype=np.uint64, endpoint=False)
        if count == 32
        else random.integers(0, 2**64, COUNT, dtype=np.uint64)
    )
    bits >>= random.integers(0, count, COUNT).astype(np.uint64)
    bits[:4] = [0, 2**count - 1, 2 ** (count - 1), 2 ** (count - 1) - 1]
    bits = bits.astype(f"u{count // 8}")
    whole = [int(x) - (2**count if source[0] == "s" and int(x) >> (count - 1) else 0) for x in bits]
    actual = apply(engine, f"cvt.{mode}.{target}.{source} %d, %a;", f"b{form.bits}", bits)
    a = [Fraction(x) for x in whole]
    assert not differing(actual, [form.rounded(x, mode) for x in a], a)


def test_arithmetic_nan_is_canonical(engine: Engine) -> None:
    """Each f32 operation of the hardware gives the NaN 0x7fffffff."""
    infinity = np.full(40, np.inf, np.float32)
    bodies = [
        "neg.f32 %b, %a; add.f32 %d, %a, %b;",
        "sub.f32 %d, %a, %a;",
        "mov.b32 %r1, 0; mul.f32 %d, %a, %r1;",
        "neg.f32 %b, %a; fma.rn.f32 %d, %a, %a, %b;",
        "sub.f32 %d, %a, %a; add.f32 %d, %d, %a;",
    ]
    for body in bodies:
        assert set(apply(engine, ".reg .b32 %b;" + body, "b32", infinity).tolist()) == {0x7FFFFFFF}, body
