"""Other distributions keep properties that a kernel may rely on."""

from __future__ import annotations

import numpy as np
import pytest

from benchguard.problem.arrays import Numbers
from benchguard.problem.distributions import NAMES, transformed

OTHERS = NAMES[1:]


def random(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def of(own: Numbers, distribution: str) -> Numbers:
    made = transformed(own, distribution, 5, "x")
    assert made.dtype == own.dtype and made.shape == own.shape
    return made


@pytest.mark.parametrize("distribution", OTHERS)
def test_triangular_matrix_stays_triangular(distribution: str) -> None:
    own = np.tril(random().standard_normal((40, 40))).astype(np.float32)
    made = of(own, distribution)
    assert not np.triu(made, 1).any()
    assert not np.array_equal(made, own)


@pytest.mark.parametrize("distribution", OTHERS)
def test_symmetric_matrices_stay_symmetric(distribution: str) -> None:
    half = random().standard_normal((3, 40, 40)).astype(np.float32)
    made = of(half + half.swapaxes(1, 2), distribution)
    assert np.array_equal(made, made.swapaxes(1, 2))
    assert len(np.unique(made)) > 1


@pytest.mark.parametrize("distribution", OTHERS)
def test_labels_stay_labels(distribution: str) -> None:
    made = of(random().choice(np.float32([-1, 1]), 4000), distribution)
    assert set(np.unique(made)) == {-1, 1}


@pytest.mark.parametrize("distribution", OTHERS)
def test_encoded_numbers_keep_to_codes_that_the_problem_drew(distribution: str) -> None:
    codes = np.setdiff1d(np.arange(256), [0x7F, 0xFF])  # the NaNs of float8_e4m3
    made = of(random().choice(codes, (50, 400)).astype(np.uint8), distribution)
    assert not np.isin(made, (0x7F, 0xFF)).any()
    assert len(np.unique(made)) > 1


@pytest.mark.parametrize("distribution", OTHERS)
@pytest.mark.parametrize("high", [256, 100_000])
def test_whole_numbers_in_floats_stay_whole(distribution: str, high: int) -> None:
    made = of(random().integers(0, high, (60, 500)).astype(np.float32), distribution)
    assert np.array_equal(made, np.rint(made))
    assert made.min() >= 0 and made.max() < high


@pytest.mark.parametrize("distribution", OTHERS)
def test_probabilities_still_sum_to_one(distribution: str) -> None:
    weights = random().random((30, 100)).astype(np.float32)
    made = of(weights / weights.sum(axis=1, keepdims=True), distribution)
    assert np.allclose(made.sum(axis=1), 1, atol=1e-4)


@pytest.mark.parametrize("distribution", OTHERS)
def test_values_without_structure_are_replaced(distribution: str) -> None:
    own = random().standard_normal((64, 64)).astype(np.float32)
    made = of(own, distribution)
    assert not np.array_equal(made, made.T) and not np.array_equal(made, own)
    assert (made == 0).mean() < 0.01 or distribution == "sparse"
