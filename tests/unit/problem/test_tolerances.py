"""The table: a result of the right precision passes, one of the next lower does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchguard.problem.arrays import NUMPY_DTYPES
from benchguard.problem.errors import ProblemError
from benchguard.problem.spec import ELEMENT_BYTES, DType, Tolerance
from benchguard.problem.tolerances import DEFAULTS, EXACT, default, tolerance_of

LOWER: dict[DType, DType] = {
    "float64": "float32",
    "float32": "float16",
    "float16": "bfloat16",
    "bfloat16": "float8_e4m3",
    "float8_e4m3": "float8_e5m2",
}


def off(values: Any, dtype: DType, tolerance: Tolerance) -> Any:
    """Which are further off than allowed when rounded to `dtype`."""
    rounded = values.astype(NUMPY_DTYPES[dtype]).astype(np.float64)
    return np.abs(rounded - values) > tolerance.atol + tolerance.rtol * np.abs(values)


@given(st.sampled_from(sorted(DEFAULTS)), st.lists(st.floats(-400, 400), min_size=1))
def test_rounding_to_own_dtype_passes(dtype: DType, values: list[float]) -> None:
    assert not off(np.array(values), dtype, default(dtype)).any()


@given(st.integers(0, 1 << 32))
def test_rounding_to_lower_dtype_fails(seed: int) -> None:
    """Some hundreds of ordinary results, about 1."""
    values = np.random.default_rng(seed).uniform(1, 4, 1000)
    for dtype, lower in LOWER.items():
        assert off(values, lower, default(dtype)).any(), (dtype, lower)


def test_integers_exact_by_default() -> None:
    for dtype in ELEMENT_BYTES:
        assert (default(dtype) == EXACT) == (dtype not in DEFAULTS)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (None, DEFAULTS["float32"]),
        ((1e-3, 0), Tolerance(1e-3, 0)),
        ([0, 1], Tolerance(0, 1)),
        (Tolerance(1, 2), Tolerance(1, 2)),
        ({"atol": 1.0}, Tolerance(1, 0)),
        ({"y": (1, 2)}, Tolerance(1, 2)),
        ({"float32": (1, 2), "float16": (3, 4)}, Tolerance(1, 2)),
        ({"float32": (1, 2), "y": (3, 4)}, Tolerance(3, 4)),
        ({"z": (1, 2)}, DEFAULTS["float32"]),
    ],
)
def test_tolerance_forms_accepted(written: Any, expected: Tolerance) -> None:
    assert tolerance_of(written, "y", "float32") == expected


@pytest.mark.parametrize(
    "written", [1e-3, (1,), (1, 2, 3), "0", (-1, 0), (float("nan"), 0), (0, float("inf")), ("a", 0)]
)
def test_invalid_tolerance_forms_refused(written: Any) -> None:
    with pytest.raises(ProblemError, match="tolerance of y"):
        tolerance_of(written, "y", "float32")
