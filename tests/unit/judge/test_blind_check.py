"""Scaled outputs differ in each number but 0, so that a check which sees them rejects them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from benchguard.judge.blind_check import FACTORS, Accepts, Outputs, blind_reason
from benchguard.judge.compare import CHUNK
from benchguard.judge.formats import numpy_dtype, stored_dtype
from benchguard.problem.arrays import to_torch
from benchguard.problem.spec import Buffer, DType, Tolerance

RIGHT: dict[DType, list[float]] = {
    "float64": [1.0, -2.5, 3.0],
    "float32": [1.0, -2.5, 3.0],
    "int8": [1, -2, 127],
    "uint8": [1, 2, 255],
    "int64": [1, -2, 2**62],
    "uint32": [1, 2, 3],
}
EXACT = {"y": Tolerance()}


@pytest.mark.parametrize("of_set", range(len(FACTORS)))
@pytest.mark.parametrize("dtype", RIGHT)
def test_outputs_that_the_check_sees_are_right(dtype: DType, of_set: int) -> None:
    """The control: a check that accepts everything but scaled right outputs does not see the others."""
    buffers = [Buffer("y", dtype, (3,), "output")]
    right = {"y": np.array(RIGHT[dtype], dtype)}

    def is_right(outputs: Outputs) -> bool:
        return bool((outputs["y"] == right["y"]).all())

    assert blind_reason(of_set, (buffers, right, is_right), (buffers, right, is_right), EXACT) is None
    unseen = blind_reason(of_set, (buffers, right, lambda _: True), (buffers, right, is_right), EXACT)
    assert unseen is not None and f"{FACTORS[of_set]:g} times" in unseen


def test_check_that_accepts_scaled_right_outputs_tells_nothing() -> None:
    buffers, right = [Buffer("y", "float32", (2,), "output")], {"y": np.ones(2, np.float32)}
    assert blind_reason(0, (buffers, right, lambda _: True), (buffers, right, lambda _: True), EXACT) is None


def test_booleans_are_not_scaled() -> None:
    buffers, right = [Buffer("y", "bool", (2,), "output")], {"y": np.ones(2, np.uint8)}
    assert blind_reason(0, (buffers, right, lambda _: True), (buffers, right, lambda _: False), EXACT) is None


CLOSE = {"y": Tolerance(1e-6, 1e-5)}
NUMBERS = np.array([1.0, -2.0, 0.0, 3.0], np.float32)
BUFFERS = [Buffer("y", "float32", (4,), "output")]
LOOSE = 1e-2
"""A limit that is wider than the tolerances."""


def sees_finite(outputs: Outputs) -> bool:
    """Accepts NaN in place of each number: a comparison with NaN is false."""
    return not (np.abs(outputs["y"] - NUMBERS) > LOOSE).any()


def ignores_the_end(outputs: Outputs) -> bool:
    return bool(np.allclose(outputs["y"][:2], NUMBERS[:2], atol=LOOSE))


def allows_signs(outputs: Outputs) -> bool:
    return bool(np.allclose(np.abs(outputs["y"]), np.abs(NUMBERS)))


def sees_small(outputs: Outputs) -> bool:
    """Compares halves by a residual, which is NaN for numbers whose squares overflow."""
    with np.errstate(all="ignore"):
        squares = (outputs["y"] * outputs["y"]).reshape(2, 2).sum(1)
        return not (
            np.abs(squares / np.float32(squares) * (outputs["y"] - NUMBERS).reshape(2, 2).sum(1)) > LOOSE
        ).any()


def reason_of(outputs: np.ndarray, accepts: Accepts, of_set: int = 0) -> str | None:
    assert accepts({"y": outputs})
    given, right = (BUFFERS, {"y": outputs}, accepts), (BUFFERS, {"y": NUMBERS}, accepts)
    return blind_reason(of_set, given, right, CLOSE)


@pytest.mark.parametrize("of_set", range(len(FACTORS)))
@pytest.mark.parametrize("off", [0.0, 0.5 * LOOSE])
@pytest.mark.parametrize("lost", [[3], [0, 3], [2], [0, 1, 2]])
def test_nan_beside_accepted_numbers_is_wrong(lost: list[int], off: float, of_set: int) -> None:
    outputs = NUMBERS + np.float32(off)
    assert reason_of(outputs, sees_finite, of_set) is None
    outputs[lost] = np.nan
    reason = reason_of(outputs, sees_finite, of_set)
    assert reason is not None and reason.startswith(f"{len(lost)} numbers of these outputs are NaN")


@pytest.mark.parametrize("of_set", range(len(FACTORS)))
def test_nan_everywhere_is_wrong_for_a_wide_limit(of_set: int) -> None:
    """The check accepts the right answer scaled."""

    def sees_large(outputs: Outputs) -> bool:
        return not (np.abs(outputs["y"] - NUMBERS) > 1).any()

    assert reason_of(NUMBERS + np.float32(0.5), sees_large, of_set) is None
    assert reason_of(np.full(4, np.nan, np.float32), sees_large, of_set) is not None


@pytest.mark.parametrize("of_set", range(len(FACTORS)))
def test_numbers_that_overflow_beside_accepted_ones_are_wrong(of_set: int) -> None:
    outputs = NUMBERS + np.float32(0.2 * LOOSE)
    assert reason_of(outputs, sees_small, of_set) is None
    outputs[2:] = 1e30
    reason = reason_of(outputs, sees_small, of_set)
    assert reason is not None and "with 2 of their numbers scaled" in reason


@pytest.mark.parametrize("lost", [np.nan, np.inf, 7.0])
def test_elements_that_the_check_ignores_may_be_anything(lost: float) -> None:
    outputs = NUMBERS.copy()
    outputs[2:] = lost
    assert reason_of(outputs, ignores_the_end) is None


def test_other_right_answer_of_the_check_is_right() -> None:
    assert reason_of(NUMBERS * np.array([1, -1, 1, -1], np.float32), allows_signs) is None


def test_nan_in_the_last_chunk_is_wrong() -> None:
    size = CHUNK + 3
    buffers, right = [Buffer("y", "float32", (size,), "output")], {"y": np.ones(size, np.float32)}

    def accepts(outputs: Outputs) -> bool:
        return not (np.abs(outputs["y"] - 1) > LOOSE).any()

    outputs = right["y"].copy()
    outputs[-2:] = np.nan
    reason = blind_reason(0, (buffers, {"y": outputs}, accepts), (buffers, right, accepts), CLOSE)
    assert reason is not None and reason.startswith("2 numbers of these outputs are NaN")


def in_numpy(array: Any) -> Any:
    return array if isinstance(array, np.ndarray) else array.to(sys.modules["torch"].float64).numpy()


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("of_set", range(len(FACTORS)))
@pytest.mark.parametrize(
    "bad",
    [
        pytest.param([], id="right"),
        pytest.param([np.nan, np.nan, np.nan, np.nan], id="nan"),
        pytest.param([1.0, np.nan, 0.0, 3.0], id="one-nan"),
        pytest.param([1.0, np.inf, 0.0, 3.0], id="one-infinity"),
        pytest.param([1.0, -2.0, 0.0, 300.0], id="one-far"),
        pytest.param([900.0, 900.0, 900.0, 900.0], id="all-far"),
    ],
)
@pytest.mark.parametrize("kind", ["all", "finite", "first", "none"])
def test_tensors_have_the_reasons_of_arrays(dtype: DType, of_set: int, bad: list[float], kind: str) -> None:
    """On a GPU the check is asked about tensors that are changed there."""
    pytest.importorskip("torch")
    buffers = [Buffer("y", dtype, (4,), "output")]

    def accepts(outputs: Outputs) -> bool:
        numbers = in_numpy(outputs["y"].view(numpy_dtype(dtype)) if is_array(outputs) else outputs["y"])
        errors = np.abs(numbers.astype(np.float64) - NUMBERS)
        if kind == "all":
            return bool((errors <= LOOSE).all())
        if kind == "finite":
            return not (errors > LOOSE).any()
        return bool((errors <= LOOSE)[:1].all()) if kind == "first" else True

    def is_array(outputs: Outputs) -> bool:
        return isinstance(outputs["y"], np.ndarray)

    right = NUMBERS.astype(numpy_dtype(dtype))
    given = np.array(bad or NUMBERS, np.float32).astype(numpy_dtype(dtype))
    arrays = [{"y": each.view(stored_dtype(dtype))} for each in (given, right)]
    tensors = [{"y": to_torch(each, "cpu")} for each in (given, right)]
    reasons = [
        blind_reason(of_set, (buffers, one, accepts), (buffers, other, accepts), CLOSE)
        for one, other in (arrays, tensors)
    ]
    assert reasons[0] == reasons[1]
