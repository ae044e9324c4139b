"""Operations that are rounded once, against exact fractions: bit for bit, in every rounding mode."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from tests.corpus.case import Array, Case, In, Out, blocks, random
from tests.corpus.cases.special import special_cases
from tests.unit.ptx.single import F32, F64, Format

MODES = ("rn", "rz", "rp", "rm")
N = 128


def cases() -> list[Case]:
    results = []
    for name, form, dtype in (("float", F32, np.float32), ("double", F64, np.float64)):
        r = random(f"rounding {name}")
        a, b, c = (reals(r, form, dtype) for _ in range(3))
        positive = np.abs(a)
        results += [
            _case(f"add_{name}", form, operator.add, a, b),
            _case(f"multiply_{name}", form, operator.mul, a, b),
            _case(f"fma_{name}", form, lambda x, y, z: x * y + z, a, b, c),
            _case(f"divide_{name}", form, operator.truediv, a, b),
            _case(f"reciprocal_{name}", form, lambda x: 1 / x, a),
            _case(f"root_{name}", form, root, positive),
        ]
    return [*results, *conversions(), *special_cases()]


def reals(r: np.random.Generator, form: Format, dtype: type) -> Array:
    """Half of the values near one, where results need rounding; half of all magnitudes, with subnormals."""
    near = r.normal(size=N // 2)
    bits = r.integers(1, form.infinity, N - N // 2, dtype=np.uint64).astype(f"u{form.bits // 8}")
    values = np.concatenate([near.astype(dtype), bits.view(dtype)])
    values[::3] *= -1
    values[:4] = [1, 3, -1, np.nextafter(dtype(1), dtype(2))]
    values[4:6] = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
    return np.asarray(r.permutation(values), dtype)


def root(value: Fraction) -> Fraction:
    """The exact root if it is representable, else a fraction strictly between its two neighbours."""
    scale = 4 ** (700 if value < 1 else 100)
    whole = math.isqrt(value.numerator * scale // value.denominator)
    exact = Fraction(whole * whole, scale) == value
    return Fraction(2 * whole + (not exact), 2 * math.isqrt(scale))


def _case(name: str, form: Format, operation: Callable[..., Fraction], *sources: Array) -> Case:
    return Case(name, [*map(In, sources), Out(rounded(form, operation, *sources))], **blocks(N))


def rounded(form: Format, operation: Callable[..., Fraction], *sources: Array) -> Array:
    """A column for each rounding mode. A zero is negative as IEEE 754 says: the sign of a product, or of rounding
    down."""
    fractions = [[Fraction(float(v)) for v in source] for source in sources]
    exact = [operation(*row) for row in zip(*fractions, strict=True)]
    return _floats(form, [[form.rounded(value, mode, mode == "rm") for value in exact] for mode in MODES])


def _floats(form: Format, columns: list[list[int]]) -> Array:
    """Convert bit patterns, one list per column, to numbers."""
    array: Array = np.array(columns, f"u{form.bits // 8}").T.copy().view(f"f{form.bits // 8}")
    return array


def conversions() -> list[Case]:
    r = random("conversions")
    wide = reals(r, F64, np.float64)
    wide[::2] = r.normal(size=N // 2) * 10.0 ** r.integers(-40, 38, N // 2)
    near = np.concatenate(
        [r.normal(size=N - 8) * 1000, [0.5, 1.5, -0.5, 2.5, 1e30, -1e30, 2.0**31, -(2.0**31)]]
    )
    single = near.astype(np.float32)
    double = np.concatenate([near[:-4] * 1e12, [1e30, -1e30, 2.0**63, -(2.0**63)]])
    ints = r.integers(-(2**31), 2**31, N).astype(np.int32)
    longs = r.integers(-(2**63), 2**63 - 1, N)
    shape = blocks(N)
    return [
        Case("double_to_float", [In(wide), Out(rounded(F32, operator.pos, wide))], **shape),
        Case("float_to_int", [In(single), Out(_whole(single, np.int32))], **shape),
        Case("float_to_unsigned", [In(single), Out(_whole(single, np.uint32))], **shape),
        Case("double_to_long", [In(double), Out(_whole(double, np.int64))], **shape),
        Case("double_to_unsigned_long", [In(double), Out(_whole(double, np.uint64))], **shape),
        Case("int_to_float", [In(ints), Out(_from_ints(F32, ints))], **shape),
        Case("unsigned_long_to_float", [In(longs), Out(_from_ints(F32, longs.view(np.uint64)))], **shape),
        Case("long_to_double", [In(longs), Out(_from_ints(F64, longs))], **shape),
        Case("round_to_whole", [In(single), Out(_kept_real(single))], **shape),
        Case("round_to_whole_double", [In(double / 1e12), Out(_kept_real(double / 1e12))], **shape),
    ]


def _whole(values: Array, dtype: type) -> Array:
    """Round to a whole number, then clamp to the range of the type."""
    info = np.iinfo(dtype)
    exact = [Fraction(v) for v in values.tolist()]
    columns = [[rounds(v) for v in exact] for rounds in (round, int, math.ceil, math.floor)]
    clamped = [[min(max(v, int(info.min)), int(info.max)) for v in column] for column in columns]
    array: Array = np.array(clamped, dtype).T.copy()
    return array


def _from_ints(form: Format, values: Array) -> Array:
    return _floats(form, [[form.rounded(Fraction(v), mode) for v in values.tolist()] for mode in MODES])


def _kept_real(x: Array) -> Array:
    away = np.copysign(np.floor(np.abs(x) + 0.5), x)
    return np.stack([np.floor(x), np.ceil(x), np.trunc(x), np.rint(x), away], 1).astype(x.dtype)
