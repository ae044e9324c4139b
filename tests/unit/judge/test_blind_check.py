"""Scaled outputs differ in each number but 0, so that a check which sees them rejects them."""

from __future__ import annotations

import numpy as np
import pytest

from benchguard.judge.blind_check import FACTORS, Outputs, blind_reason
from benchguard.problem.spec import Buffer, DType

RIGHT: dict[DType, list[float]] = {
    "float64": [1.0, -2.5, 3.0],
    "float32": [1.0, -2.5, 3.0],
    "int8": [1, -2, 127],
    "uint8": [1, 2, 255],
    "int64": [1, -2, 2**62],
    "uint32": [1, 2, 3],
}


@pytest.mark.parametrize("of_set", range(len(FACTORS)))
@pytest.mark.parametrize("dtype", RIGHT)
def test_outputs_that_the_check_sees_are_right(dtype: DType, of_set: int) -> None:
    """The control: a check that accepts everything but scaled right outputs does not see the others."""
    buffers = [Buffer("y", dtype, (3,), "output")]
    right = {"y": np.array(RIGHT[dtype], dtype)}

    def is_right(outputs: Outputs) -> bool:
        return bool((outputs["y"] == right["y"]).all())

    assert blind_reason(of_set, (buffers, right, is_right), (buffers, right, is_right)) is None
    unseen = blind_reason(of_set, (buffers, right, lambda _: True), (buffers, right, is_right))
    assert unseen is not None and f"{FACTORS[of_set]:g} times" in unseen


def test_check_that_accepts_scaled_right_outputs_tells_nothing() -> None:
    buffers, right = [Buffer("y", "float32", (2,), "output")], {"y": np.ones(2, np.float32)}
    assert blind_reason(0, (buffers, right, lambda _: True), (buffers, right, lambda _: True)) is None


def test_booleans_are_not_scaled() -> None:
    buffers, right = [Buffer("y", "bool", (2,), "output")], {"y": np.ones(2, np.uint8)}
    assert blind_reason(0, (buffers, right, lambda _: True), (buffers, right, lambda _: False)) is None
