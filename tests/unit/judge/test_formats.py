"""Formats: every stored pattern against arithmetic on its fields, and rounding against a search."""

from __future__ import annotations

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchguard.judge.formats import FLOATS, decoded, numpy_dtype, rounded, stored_dtype
from benchguard.problem.spec import ELEMENT_BYTES

FIELDS = {"float16": (5, 10), "bfloat16": (8, 7), "float8_e4m3": (4, 3), "float8_e5m2": (5, 2)}
"""Bits of exponent and of fraction."""


def number_of(bits: int, name: str) -> float:
    """By the definition of the format, in exact arithmetic."""
    exponent_bits, fraction_bits = FIELDS[name]
    fraction = bits & ((1 << fraction_bits) - 1)
    exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1)
    sign = -1.0 if bits >> (exponent_bits + fraction_bits) else 1.0
    bias = (1 << (exponent_bits - 1)) - 1
    last = (1 << exponent_bits) - 1
    if name == "float8_e4m3":
        if exponent == last and fraction == 7:
            return math.nan
    elif exponent == last:
        return math.nan if fraction else sign * math.inf
    if exponent == 0:
        return sign * float(Fraction(fraction, 1 << fraction_bits) * Fraction(2) ** (1 - bias))
    return sign * float((1 + Fraction(fraction, 1 << fraction_bits)) * Fraction(2) ** (exponent - bias))


@pytest.mark.parametrize("name", FIELDS)
def test_all_bit_patterns_decoded(name: str) -> None:
    count = 1 << (8 * ELEMENT_BYTES[name])
    bits = np.arange(count, dtype=f"u{ELEMENT_BYTES[name]}")
    result = decoded(name, bits.view(stored_dtype(name)))
    expected = np.array([number_of(each, name) for each in range(count)])
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(np.signbit(result[result == 0]), np.signbit(expected[expected == 0]))


@pytest.mark.parametrize("name", FIELDS)
def test_largest_and_smallest_normal(name: str) -> None:
    form = FLOATS[name]
    values = np.array([number_of(each, name) for each in range(1 << (8 * ELEMENT_BYTES[name]))])
    assert values[np.isfinite(values)].max() == form.largest
    assert np.isinf(values).any() == form.infinities
    info = ml_dtypes.finfo(numpy_dtype(name))
    assert float(info.smallest_normal) == form.smallest_normal


@pytest.mark.parametrize("name", FIELDS)
@given(value=st.floats(allow_nan=False, allow_infinity=False, width=64))
def test_rounding_gives_nearest_value(name: str, value: float) -> None:
    form = FLOATS[name]
    result = float(rounded(np.array([value]), form)[0])
    if abs(result) > form.largest:
        step = Fraction(2) ** (math.frexp(form.largest)[1] - form.digits)
        assert abs(Fraction(value)) >= Fraction(form.largest) + step / 2
        return
    unit = Fraction(2) ** max(math.frexp(value)[1] - form.digits, form.lowest - form.digits + 1)
    error = abs(Fraction(result) - Fraction(value))
    assert error <= unit / 2
    assert (Fraction(result) / unit).denominator == 1
    if error == unit / 2 and value:
        assert (Fraction(result) / unit).numerator % 2 == 0


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_rounding_to_float32_matches_processor(value: float) -> None:
    result = float(rounded(np.array([value]), FLOATS["float32"])[0])
    with np.errstate(over="ignore"):
        expected = float(np.float64(value).astype(np.float32))
    assert result == expected or (math.isinf(expected) and abs(result) > FLOATS["float32"].largest)


def test_rounding_keeps_nan_and_inf() -> None:
    with np.errstate(all="ignore"):
        result = rounded(np.array([math.inf, -math.inf, math.nan]), FLOATS["float16"])
    assert result[0] == math.inf and result[1] == -math.inf and np.isnan(result[2])
