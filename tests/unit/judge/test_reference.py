"""Storage and validation of expected outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from benchguard.judge.inputs import chance_for
from benchguard.judge.reference import SpillError, as_output, check_answers, expected_of, kept_bytes, spilled
from benchguard.judge.troubles import FaultError
from benchguard.problem.spec import Buffer, CaseSpec, DType, Tolerance


class Given:
    """A case with given expected values."""

    own_verdict = has_own_check = False
    distributions = ("own",)

    def __init__(self, values: Any, dtype: DType = "float32", tolerance: Tolerance | None = None) -> None:
        self.values = values
        self.spec = CaseSpec("given", (Buffer("y", dtype, np.shape(values), "output"),))
        self.tolerances = {"y": tolerance or Tolerance(1e-5, 1e-5)}

    def inputs(self, seed: int, distribution: str) -> dict[str, Any]:
        raise NotImplementedError

    def expected(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        del inputs
        return {"y": self.values}

    def verify(self, *_: Any) -> str | None:
        return None


def stored_values(
    values: Any, dtype: DType = "float32", *, spill: bool = False, tolerance: float = 1e-5
) -> np.ndarray:
    case = Given(values, dtype, Tolerance(0.0, tolerance))
    expected = expected_of(case, {})
    return (spilled(case, expected) if spill else expected)["y"]


def test_expected_floats_kept_exactly() -> None:
    values = np.array([[1 / 3, np.nan], [np.inf, -1e300]])
    result = stored_values(values)
    assert result.dtype == np.float64 and result.shape == (4,)
    np.testing.assert_array_equal(result, values.reshape(-1))
    for narrow in (np.float16, np.float32, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn):
        assert stored_values(np.ones(3, narrow)).dtype == np.float32
    assert stored_values(np.array([1 << 40])).dtype == np.float64


@pytest.mark.parametrize(
    ("overflows", "value"), [(False, 1e38), (False, np.inf), (False, np.nan), (True, 1e39)]
)
def test_references_in_float32_with_a_wide_tolerance_only_without_overflow(
    overflows: bool, value: float
) -> None:
    values = np.append(np.random.default_rng(0).standard_normal(1000), [1e-45, value])
    case = Given(values, tolerance=Tolerance(1e-5, 1e-4))
    if overflows:
        with pytest.raises(SpillError):
            spilled(case, expected_of(case, {}))
        return
    stored = spilled(case, expected_of(case, {}))["y"]
    assert stored.dtype == np.float32
    np.testing.assert_allclose(stored, values, rtol=2.0**-24, atol=2.0**-150)


def test_references_in_float32_only_within_tolerance() -> None:
    values = np.random.default_rng(0).standard_normal(1000)
    assert stored_values(values, spill=True, tolerance=2.0**-13).dtype == np.float32
    with pytest.raises(SpillError):
        stored_values(values, spill=True, tolerance=2.0**-16)
    with pytest.raises(SpillError):
        stored_values(np.array([1e39]), spill=True, tolerance=0.1)
    halves = np.array([0.5, np.nan, np.inf])
    np.testing.assert_array_equal(stored_values(halves, spill=True, tolerance=0.0), halves.astype(np.float32))
    spec = Given(np.zeros(10)).spec
    assert (kept_bytes(spec, False), kept_bytes(spec, True)) == (120, 80)


@pytest.mark.parametrize(
    ("values", "dtype", "right"),
    [
        ([1.0, -2.0], "int32", True),
        ([1.5], "int32", False),
        ([float("nan")], "int32", False),
        ([float("inf")], "int64", False),
        ([2.0**63], "int64", False),
        ([-(2.0**63)], "int64", True),
        ([255], "uint8", True),
        ([256], "uint8", False),
        ([-1], "uint8", False),
        ([True, False], "bool", True),
        ([1, 0], "bool", True),
        ([2], "bool", False),
    ],
)
def test_expected_integers_must_fit_dtype(values: list[float], dtype: DType, right: bool) -> None:
    if right:
        np.testing.assert_array_equal(stored_values(np.array(values), dtype), np.array(values).astype(dtype).view(
            np.uint8 if dtype == "bool" else dtype))  # fmt: skip
    else:
        with pytest.raises(FaultError, match="cannot hold exactly"):
            stored_values(np.array(values), dtype)


@pytest.mark.parametrize("values", [np.array([1j]), np.array(["a"]), np.array([None])])
def test_non_numeric_expected_values_refused(values: np.ndarray) -> None:
    with pytest.raises(FaultError, match="return real numbers"):
        stored_values(values)


def test_expected_all_nan_refused() -> None:
    with pytest.raises(FaultError, match="no finite number"):
        stored_values(np.array([np.nan, np.inf]))
    assert len(stored_values(np.empty(0))) == 0


def test_expected_outputs_independent_of_inputs_refused() -> None:
    spec = Given(np.zeros(2)).spec
    with pytest.raises(FaultError, match="all 2 input sets"):
        check_answers(spec, [{"y": np.zeros(2)}, {"y": np.zeros(2)}])
    check_answers(spec, [{"y": np.zeros(2)}])
    check_answers(spec, [{"y": np.zeros(2)}, {"y": np.zeros(2)}, {"y": np.ones(2)}])


def test_expected_values_converted_to_output_dtype() -> None:
    half = Buffer("y", "float16", (3,), "output")
    np.testing.assert_array_equal(
        as_output(half, np.array([1 / 3, 1e9, 1.0])).view(np.float16),
        np.array([1 / 3, np.inf, 1.0], np.float16),
    )
    flags = Buffer("y", "bool", (2,), "output")
    np.testing.assert_array_equal(as_output(flags, np.array([0, 1], np.uint8)), [0, 1])


def test_seeds_come_from_system() -> None:
    assert chance_for(None, "x").getrandbits(63) != chance_for(None, "x").getrandbits(63)
    assert chance_for(3, "x").getrandbits(63) == chance_for(3, "x").getrandbits(63)
    assert chance_for(3, "x").getrandbits(63) != chance_for(3, "y").getrandbits(63)
