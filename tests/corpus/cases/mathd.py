"""CUDA's double functions, within the errors that its programming guide states.

The reference is in extended precision where the host has it, so that it is right to less than an ulp of a double;
erf and erfc are the C library's doubles and may themselves be an ulp off.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tests.corpus.bound import EXACT, Bound, Ulp
from tests.corpus.case import Array, Case, In, Out, blocks, random

N = 256
Function = Callable[..., Array]


def cases() -> list[Case]:
    return [*_unary(), *_binary(), _pieces()]


def _values(name: str, low: float, high: float) -> Array:
    r = random(name)
    if low > 0 and high / low > 1000:
        return np.exp(r.uniform(np.log(low), np.log(high), N))
    return r.uniform(low, high, N)


def _all(function: Callable[[float], float]) -> Function:
    return np.vectorize(lambda x: function(float(x)), otypes=[np.float64])


def _unary() -> list[Case]:
    """Units from "Standard Functions" of the CUDA C++ Programming Guide, double precision; erf's with the host's."""
    rows: list[tuple[str, Function, float, float, float]] = [
        ("sqrt", np.sqrt, 1e-310, 1e308, 0), ("rsqrt", lambda x: 1 / np.sqrt(x), 1e-300, 1e300, 1),
        ("cbrt", np.cbrt, -1e6, 1e6, 1), ("sin", np.sin, -1e7, 1e7, 2), ("cos", np.cos, -100, 100, 2),
        ("tan", np.tan, -100, 100, 2), ("asin", np.arcsin, -1, 1, 2), ("acos", np.arccos, -1, 1, 2),
        ("atan", np.arctan, -50, 50, 2), ("sinh", np.sinh, -60, 60, 2), ("cosh", np.cosh, -60, 60, 1),
        ("tanh", np.tanh, -10, 10, 1), ("exp", np.exp, -700, 700, 1), ("exp2", np.exp2, -1000, 1000, 1),
        ("expm1", np.expm1, -20, 80, 1), ("log", np.log, 1e-310, 1e308, 1), ("log2", np.log2, 1e-300, 1e300, 1),
        ("log10", np.log10, 1e-300, 1e300, 1), ("log1p", np.log1p, -0.99, 100, 1), ("erf", _all(math.erf), -4, 4, 3),
        ("erfc", _all(math.erfc), -3, 20, 6),
    ]  # fmt: skip
    results = []
    for name, function, low, high, units in rows:
        x = _values(f"{name}_d", low, high)
        results.append(_case(f"{name}_d", function, Ulp(units) if units else EXACT, x))
    return results


def _case(name: str, function: Function, bound: Bound, *sources: Array) -> Case:
    # Exactly rounded functions must be rounded once: extended precision would round twice.
    precision = np.float64 if bound is EXACT else np.longdouble
    expected = function(*(x.astype(precision) for x in sources)).astype(np.float64)
    return Case(name, [*map(In, sources), Out(expected, bound)], **blocks(N))


def _binary() -> list[Case]:
    real, other = _values("binary a", -50, 50), _values("binary b", -9, 9)
    positive = _values("binary c", 0.01, 50)
    return [
        _case("pow_d", np.power, Ulp(2), positive, other),
        _case("atan2_d", np.arctan2, Ulp(2), real, other),
        _case("hypot_d", np.hypot, Ulp(2), real, other),
        _case("fmod_d", np.fmod, EXACT, real * 1000, other),
        _case("divide_d", np.divide, EXACT, real, other),
    ]


def _pieces() -> Case:
    x = _values("pieces_d", -1e9, 1e9)
    mantissa, exponent = np.frexp(x)
    fraction, whole = np.modf(x)
    parts = np.stack([mantissa, np.ldexp(x, np.arange(N) % 60 - 30), fraction - whole], 1)
    return Case("pieces_d", [In(x), Out(parts), Out(exponent.astype(np.int32))], **blocks(N))
