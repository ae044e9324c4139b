"""A reference that is off in the submission's precision widens the tolerance, and is then right itself."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from benchguard.judge import slack
from benchguard.judge.compare import compare
from benchguard.judge.slack import (
    allow_for,
    baseline_of,
    default_baseline_of,
    error_of,
    narrowed_for,
    widened,
)
from benchguard.judge.troubles import FaultError
from benchguard.problem import suite
from benchguard.problem.spec import Buffer, CaseSpec, Tolerance

TOLERANCE = Tolerance(1e-4, 1e-4)
EXPECTED = np.linspace(-1, 1, 101)


def case(baseline: Any, dtype: Any = "float32") -> suite.TestCase:
    """A case of one output whose reference gives `baseline` in the submission's precision."""
    spec = CaseSpec("c", (Buffer("y", dtype, EXPECTED.shape, "output"),))
    made = SimpleNamespace(
        spec=spec, tolerances={"y": TOLERANCE}, baseline=lambda inputs: {"y": baseline} if not inputs else {}
    )
    return cast(suite.TestCase, made)


def allowed(own: Any, expected: Any = EXPECTED, dtype: Any = "float32") -> tuple[Any, Mapping[str, float]]:
    made = case(own, dtype)
    found, factors = allow_for(made, baseline_of(made, {}), {"y": expected})
    return found["y"], factors


def wrong(actual: Any, expected: Any, factors: Mapping[str, float]) -> int:
    tolerance = widened({"y": TOLERANCE}, factors)["y"]
    return compare(np.asarray(actual), expected, "float32", tolerance).wrong


def test_exact_reference_keeps_the_tolerance() -> None:
    own = EXPECTED.astype(np.float32)
    expected, factors = allowed(own)
    assert factors == {}
    assert wrong(own + np.float32(3e-4), expected, factors) > 0


def test_inexact_reference_is_right_and_twice_its_error_is_the_bound() -> None:
    """As of 40 layers in float32: off by 3.2 times the tolerance in a single element."""
    own = EXPECTED.astype(np.float32)
    own[50] += np.float32(3.2e-4)
    assert wrong(own, EXPECTED, {}) == 1
    expected, factors = allowed(own)
    assert factors["y"] == pytest.approx(6.4, rel=0.01)
    assert wrong(own, expected, factors) == 0
    elsewhere = EXPECTED.astype(np.float32)
    elsewhere[40] += np.float32(5e-4)
    assert wrong(elsewhere, expected, factors) == 0
    elsewhere[40] += np.float32(9e-4)
    assert wrong(elsewhere, expected, factors) == 1


def test_output_that_the_suites_own_harness_accepts_is_right() -> None:
    """The harness compares with the reference in float32, which is off by 0.4 tolerances itself."""
    own = EXPECTED.astype(np.float32)
    error = np.float32(0.4) * np.float32(TOLERANCE.atol + TOLERANCE.rtol * abs(EXPECTED[50]))
    own[50] += error
    accepted = own.copy()
    accepted[50] += 2.4 * error  # 0.96 tolerances from the reference in float32, 1.36 from the exact number
    assert wrong(accepted, EXPECTED, {}) == 1
    expected, factors = allowed(own)
    assert factors["y"] == pytest.approx(1.4, rel=0.01)
    assert wrong(accepted, expected, factors) == 0
    accepted[50] += error
    assert wrong(accepted, expected, factors) == 1


def test_reference_that_overflows_expects_its_own_value() -> None:
    own = EXPECTED.astype(np.float32)
    own[3] = np.inf
    expected, factors = allowed(own)
    assert np.isinf(expected[3]) and factors == {} and wrong(own, expected, factors) == 0
    assert wrong(EXPECTED.astype(np.float32), expected, factors) == 1


def test_reference_that_is_noise_is_refused() -> None:
    with pytest.raises(FaultError, match="zeros would pass"):
        allowed(-EXPECTED.astype(np.float32))


SMALL = EXPECTED * 2e-6
"""Numbers like a softmax over a long row: all within the tolerance of zero."""


def test_zeros_fail_where_all_numbers_are_within_the_tolerance() -> None:
    assert wrong(np.zeros(101, np.float32), SMALL, {}) == 0
    expected, factors = allowed(SMALL.astype(np.float32), SMALL)
    assert factors["y"] == pytest.approx(0.1 * 2e-6 / TOLERANCE.atol, rel=0.01)
    assert wrong(np.zeros(101, np.float32), expected, factors) > 80
    assert wrong(np.full(101, SMALL.mean(), np.float32), expected, factors) > 80
    assert wrong(SMALL.astype(np.float32), expected, factors) == 0
    assert wrong(SMALL.astype(np.float16).astype(np.float32), expected, factors) == 0


def test_narrowed_tolerance_is_at_least_twice_the_error_of_the_reference() -> None:
    own = (SMALL + 4e-7).astype(np.float32)
    expected, factors = allowed(own, SMALL)
    assert factors["y"] == pytest.approx(8e-7 / TOLERANCE.atol, rel=0.01)
    assert wrong(own, expected, factors) == 0 and wrong(np.zeros(101, np.float32), expected, factors) > 0


def test_noise_around_zero_and_exact_zeros_keep_the_tolerance() -> None:
    """A set of equal inputs may cancel to zero: then zeros are right."""
    assert allowed(-SMALL.astype(np.float32), SMALL)[1] == {}
    assert allowed(np.zeros(101, np.float32), np.zeros(101))[1] == {}


def test_suite_without_a_baseline_keeps_the_tolerance() -> None:
    assert baseline_of(cast(suite.TestCase, SimpleNamespace()), {}) == {}
    made = case(EXPECTED.astype(np.float32))
    assert allow_for(made, {}, {"y": EXPECTED})[1] == {}


def own_case(native: Any, defaults: frozenset[str]) -> suite.TestCase:
    """A case of a problem's own, without a suite's baseline."""
    made = case(None)
    spec, tolerances = made.spec, made.tolerances
    return cast(
        suite.TestCase,
        SimpleNamespace(spec=spec, tolerances=tolerances, default_tolerances=defaults, native=native),
    )


@pytest.mark.parametrize(
    ("size", "defaults", "narrowed"),
    [(5e-5, {"y"}, True), (1.0, {"y"}, False), (5e-5, set[str](), False)],
)
def test_default_tolerance_that_accepts_zeros_is_narrowed(
    size: float, defaults: set[str], narrowed: bool
) -> None:
    """Only such a tolerance, and only then the reference runs again."""
    runs = []

    def native(inputs: Any) -> dict[str, Any]:
        runs.append(inputs)
        return {"y": (EXPECTED * size).astype(np.float32)}

    made, expected = own_case(native, frozenset(defaults)), {"y": EXPECTED * size}
    factors = narrowed_for(made, default_baseline_of(made, {}, expected), expected)
    assert bool(factors) == bool(runs) == narrowed
    if narrowed:
        assert wrong(np.zeros_like(EXPECTED, np.float32), expected["y"], factors) > 90
        assert wrong((EXPECTED * size * 1.001).astype(np.float32), expected["y"], factors) == 0


def test_default_tolerance_is_never_widened() -> None:
    def native(inputs: Any) -> dict[str, Any]:
        assert not inputs
        return {"y": (EXPECTED * 9e-5 + 1e-3).astype(np.float32)}

    made, expected = own_case(native, frozenset({"y"})), {"y": EXPECTED * 9e-5}
    assert narrowed_for(made, default_baseline_of(made, {}, expected), expected) == {}


@pytest.mark.parametrize("tolerance", [TOLERANCE, Tolerance(1e-3, 0.0), Tolerance(0.0, 1e-4)])
@pytest.mark.parametrize("special", [[], [np.inf], [np.nan], [0.0]])
@pytest.mark.parametrize("off", [0.0, 1e-6, 1e-2])
def test_error_of_finite_numbers_is_the_one_that_masks_find(
    monkeypatch: pytest.MonkeyPatch, tolerance: Tolerance, special: list[float], off: float
) -> None:
    expected = np.array([*np.linspace(-9, 9, 101), *special])
    own = np.float32(expected * (1 + off))
    buffer = Buffer("y", "float32", own.shape, "output")
    quick, found = (
        error_of(buffer, own, expected, tolerance),
        slack._over_chunks(buffer, own, expected, tolerance),
    )
    monkeypatch.setattr(slack, "_errors_of_finite", lambda *_: None)
    masked = slack._over_chunks(buffer, own, expected, tolerance)
    assert quick == masked.error
    assert (found.error, found.size, found.beyond) == (masked.error, masked.size, masked.beyond)
