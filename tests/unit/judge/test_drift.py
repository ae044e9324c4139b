"""Errors of sums one after the other: equal numbers drift, random ones hardly do, and there is a limit."""

from __future__ import annotations

import numpy as np
import pytest

from benchguard.judge.drift import SHARE_MAX, drift_of


@pytest.mark.parametrize("function", [np.abs, np.square, np.exp])
@pytest.mark.parametrize("length", [1 << 12, 1 << 15, 1 << 18])
def test_sum_of_equal_numbers_is_within_the_share(function: np.ufunc, length: int) -> None:
    for value in (0.9, 0.37, 1.93):
        numbers = np.full(length, value, np.float32)
        added = function(numbers)
        exact = float(added.sum(dtype=np.float64))
        off = abs(float(np.add.accumulate(added)[-1]) - exact) / exact
        assert off <= drift_of([numbers], length) < length * 2.0**-25


def test_random_numbers_hardly_drift() -> None:
    numbers = np.random.default_rng(0).random(1 << 18, np.float32)
    assert drift_of([numbers], numbers.size) < 2.0**-14


def test_share_of_a_long_sum_has_a_limit() -> None:
    assert drift_of([np.full(1 << 22, 0.9, np.float32)], 1 << 22) == SHARE_MAX


def test_sum_of_one_number_or_none_does_not_drift() -> None:
    numbers = np.full(1 << 12, 0.9, np.float32)
    assert (
        drift_of([numbers], 1) == drift_of([numbers], 0) == drift_of([], 8) == drift_of([numbers[:0]], 8) == 0
    )


def test_numbers_that_are_not_finite_do_not_drift() -> None:
    assert drift_of([np.full(8, np.inf, np.float32), np.full(8, np.nan, np.float32)], 8) == 0
    assert drift_of([np.full(8, 1e300)], 8) == 0
