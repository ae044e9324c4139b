"""Outputs that differ by a few roundings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchguard.judge.alike import NEARBY, far_among_alike
from benchguard.problem.spec import DType

COUNT = NEARBY + 1000


def are_alike(dtype: DType, stored: Any, others: DType, other: Any) -> bool:
    return far_among_alike(dtype, stored, others, other) is not None


def sums(dtype: Any = np.float32) -> Any:
    return np.cumsum(np.random.default_rng(1).standard_normal(COUNT)).astype(dtype)


def test_sums_of_blocks_in_another_order_are_alike() -> None:
    """A scan on a GPU adds what the blocks before gave."""
    blocks = np.random.default_rng(2).standard_normal((1024, 256)).astype(np.float32)
    within, totals = np.cumsum(blocks, axis=1), blocks.sum(axis=1)
    before = np.cumsum(totals) - totals
    in_pairs = np.repeat(np.cumsum(totals.reshape(-1, 2).sum(axis=1)), 2) - totals
    in_pairs[::2] -= totals[1::2]
    one, other = ((within + each[:, None]).ravel() for each in (before, in_pairs))
    assert (one != other).any()
    assert are_alike("float32", one, "float32", other)


@pytest.mark.parametrize("place", [0, COUNT - 1])
@pytest.mark.parametrize(
    ("off", "expected"),
    [pytest.param(2.0**-17, True, id="rounding"), pytest.param(2.0**-14, False, id="wrong")],
)
def test_number_off_by_a_share_of_the_largest_nearby_is_alike_up_to_2_to_the_minus_16(
    place: int, off: float, expected: bool
) -> None:
    one = sums()
    other = one.copy()
    nearby = one[:NEARBY] if place < NEARBY else one[NEARBY:]
    other[place] += off * np.abs(nearby).max()
    assert are_alike("float32", one, "float32", other) == expected


def test_small_numbers_far_from_large_ones_are_not_alike() -> None:
    one = np.ones(COUNT, np.float32)
    one[-1] = 1e9  # in another chunk
    other = one.copy()
    other[0] = 1.5
    assert not are_alike("float32", one, "float32", other)


@pytest.mark.parametrize(
    ("dtype", "stored", "others"),
    [
        pytest.param("float16", np.float16, np.array([1.0, 1 + 2.0**-10], np.float16), id="float16"),
        pytest.param(
            "bfloat16", np.uint16, np.array([0x3F80, 0x3F81], np.uint16), id="bfloat16"
        ),  # 1 and the next number
    ],
)
def test_numbers_one_unit_in_the_last_place_apart_are_alike(dtype: DType, stored: Any, others: Any) -> None:
    one = np.array([others[0]], stored)
    assert are_alike(dtype, one, dtype, others[1:])


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_special_numbers_are_alike_only_to_the_same(special: float) -> None:
    one = sums()
    one[5] = special
    assert are_alike("float32", one, "float32", one.copy())
    other = one.copy()
    other[5] = 1.0
    assert not are_alike("float32", one, "float32", other)
    assert not are_alike("float32", other, "float32", one)


def test_float64_has_less_room_than_float32() -> None:
    one = sums(np.float64)
    assert not are_alike("float64", one * (1 + 1e-9), "float64", one)
    assert are_alike("float64", one * (1 + 1e-15), "float64", one)


def test_integers_and_other_counts_are_not_alike() -> None:
    one = np.arange(9, dtype=np.int32)
    assert not are_alike("int32", one, "int32", one)
    assert not are_alike("float32", sums(), "float32", sums()[1:])


def test_many_numbers_far_smaller_than_others_are_not_alike_if_they_are_off() -> None:
    """Their errors are less than a rounding of the large ones."""
    one = np.full(COUNT, 1e-6, np.float32)
    one[0] = 1.0
    assert not are_alike("float32", np.where(one < 1, np.float32(0), one), "float32", one)


def test_few_small_numbers_that_are_far_off_are_named() -> None:
    one = sums() + np.float32(1e5)
    other = one.copy()
    one[[3, NEARBY + 5]], other[[3, NEARBY + 5]] = 1.0, 0.0
    far = far_among_alike("float32", one, "float32", other)
    assert far is not None and far.tolist() == [3, NEARBY + 5]
