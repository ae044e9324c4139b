"""CUDA's float functions, within the errors that its programming guide states."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tests.corpus.bound import EXACT, Bound, Relative, Ulp
from tests.corpus.case import Array, Case, In, Out, blocks, random

N = 512
Function = Callable[..., Array]


def cases() -> list[Case]:
    return [*_unary(), *_binary(), *_fast(), *_pieces()]


def _all(function: Callable[[float], float]) -> Function:
    return np.vectorize(function, otypes=[np.float64])


def _values(name: str, low: float, high: float, count: int = N) -> Array:
    """Evenly spaced numbers, or evenly spaced exponents for a wide range of one sign."""
    r = random(name)
    if low > 0 and high / low > 1000:
        result = np.exp(r.uniform(np.log(low), np.log(high), count))
    else:
        result = r.uniform(low, high, count)
    return result.astype(np.float32)


def _one(name: str, function: Function, low: float, high: float, bound: Bound) -> Case:
    x = _values(name, low, high)
    expected = function(x.astype(np.float64)).astype(np.float32)
    return Case(name, [In(x), Out(expected, bound)], **blocks(N))


def _unary() -> list[Case]:
    """Units from "Standard Functions" of the CUDA C++ Programming Guide, single precision."""
    rows: list[tuple[str, Function, float, float, float]] = [
        ("sqrt", np.sqrt, 1e-40, 3e38, 0), ("rsqrt", lambda x: 1 / np.sqrt(x), 1e-38, 3e38, 2),
        ("cbrt", np.cbrt, -1e6, 1e6, 1), ("sin", np.sin, -200000, 200000, 2), ("cos", np.cos, -100, 100, 2),
        ("tan", np.tan, -100, 100, 4), ("asin", np.arcsin, -1, 1, 2), ("acos", np.arccos, -1, 1, 2),
        ("atan", np.arctan, -50, 50, 2), ("sinh", np.sinh, -60, 60, 3), ("cosh", np.cosh, -60, 60, 2),
        ("tanh", np.tanh, -10, 10, 2), ("exp", np.exp, -87, 88, 2), ("exp2", np.exp2, -126, 127, 2),
        ("expm1", np.expm1, -20, 80, 1), ("log", np.log, 1e-40, 3e38, 1), ("log2", np.log2, 1e-40, 3e38, 1),
        ("log10", np.log10, 1e-40, 3e38, 2), ("log1p", np.log1p, -0.99, 100, 1), ("erf", _all(math.erf), -4, 4, 2),
        ("erfc", _all(math.erfc), -3, 9, 4), ("tgamma", _all(math.gamma), 0.1, 34, 5),
        ("lgamma", _all(math.lgamma), 0.1, 1000, 6),
    ]  # fmt: skip
    return [_one(f"{name}_f", f, low, high, Ulp(u) if u else EXACT) for name, f, low, high, u in rows]


def _two(name: str, function: Function, x: Array, y: Array, bound: Bound) -> Case:
    expected = function(x.astype(np.float64), y.astype(np.float64)).astype(np.float32)
    return Case(name, [In(x), In(y), Out(expected, bound)], **blocks(len(x)))


def _binary() -> list[Case]:
    real, other = _values("binary a", -50, 50), _values("binary b", -9, 9)
    positive = _values("binary c", 0.01, 50)
    return [
        _two("pow_f", np.power, positive, other, Ulp(4)),
        _two("atan2_f", np.arctan2, real, other, Ulp(3)),
        _two("hypot_f", np.hypot, real, other, Ulp(3)),
        _two("fmod_f", np.fmod, real * 1000, other, EXACT),
        _two("remainder_f", np.vectorize(math.remainder), real * 1000, other, EXACT),
        _two("divide_f", np.divide, real, other, EXACT),
    ]


def _fast() -> list[Case]:
    """The guide's "Intrinsic Functions", and PTX's bounds for the .approx instructions.

    A small range as stated, absolute where the guide's is; |x| in the bound of __expf is each element's own.
    """
    x = _values("fast_exp", -80, 80).astype(np.float64)
    ten = _values("fast_exp10", -30, 30).astype(np.float64)
    base, power = _values("fast_pow a", 0.1, 20), _values("fast_pow b", -3, 3)
    # 2^(y log2 x): y times log2's two ulp (2^-22 near one), plus ex2's two ulp.
    spread = np.abs(power) * (np.abs(np.log2(base.astype(np.float64))) * 2**-22 + 2**-22) * math.log(2)
    powers = np.power(base.astype(np.float64), power)
    return [
        _one("fast_sin", np.sin, -3.14, 3.14, Relative(0, 2**-21.41)),
        _one("fast_cos", np.cos, -3.14, 3.14, Relative(0, 2**-21.19)),
        _one("fast_exp", np.exp, -80, 80, Ulp(2 + np.floor(np.abs(1.173 * x)))),
        _one("fast_exp10", lambda v: np.power(10.0, v), -30, 30, Ulp(2 + np.floor(np.abs(2.97 * ten)))),
        _one("fast_log", np.log, 0.5, 2, Relative(0, 2**-21.41)),
        _one("fast_log2", np.log2, 2.1, 1e30, Ulp(2)),
        _one("fast_rsqrt", lambda v: 1 / np.sqrt(v), 1e-38, 3e38, EXACT),
        _two("fast_pow", np.power, base, power, Relative(2**-21, powers * spread)),
        _two("fast_divide", np.divide, base, power, Ulp(2)),
        _one("approx_rcp", lambda v: 1 / v, 1e-37, 1e37, Ulp(1)),
        _one("approx_sqrt", np.sqrt, 1e-37, 1e37, Relative(2**-23)),
        _one("approx_tanh", np.tanh, -9, 9, Relative(2**-10.987)),
    ]


def _pieces() -> list[Case]:
    x = np.concatenate([_values("pieces", -1e6, 1e6, N - 4), [1e-40, -1e-42, 0.5, 8]]).astype(np.float32)
    wide = x.astype(np.float64)
    mantissa, exponent = np.frexp(wide)
    fraction, whole = np.modf(wide)
    turned = np.ldexp(wide, np.arange(N) % 40 - 20)
    parts = np.stack([mantissa, turned, fraction, whole, np.nextafter(x, np.float32(0))], 1).astype(
        np.float32
    )
    exponents = np.stack([exponent, exponent - 1], 1).astype(np.int32)
    angles = _values("sincos", -300, 300)
    sines = [Out(f(angles.astype(np.float64)).astype(np.float32), Ulp(2)) for f in (np.sin, np.cos)]
    return [
        Case("pieces_f", [In(x), Out(parts), Out(exponents)], **blocks(N)),
        Case("sincos_f", [In(angles), *sines], **blocks(N)),
    ]
