"""Numbers of sets, slots and distributions for given memory."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchguard.ipc.slots import SLOTS_MAX, SlotPlan
from benchguard.judge.plan import Sizes, check_room, fewest, is_worth_spilling, numbers_in, plan, spread
from benchguard.judge.troubles import FaultError


@pytest.mark.parametrize(("room", "sets", "one_use"), [(12, 12, 8), (14, 14, 8), (16, 16, 8), (99, 16, 8)])
def test_plan_without_memory_beyond_the_pool_makes_one_use_sets_first(
    room: int, sets: int, one_use: int
) -> None:
    plan_ = plan(Sizes(100, 50, 25), 8, 8, room * 100 + 99, available=0)
    assert (plan_.sets, plan_.one_use, plan_.streamed) == (sets, one_use, False)


@pytest.mark.parametrize(
    ("room", "repeated", "one_use", "stored"),
    [(0, 2, 8, 3), (3, 2, 8, 3), (4, 3, 11, 4), (5, 4, 8, 5), (11, 4, 8, 5)],
)
def test_plan_streams_one_use_sets_where_memory_is_short(
    room: int, repeated: int, one_use: int, stored: int
) -> None:
    """However large a set is: 8 are never repeated, and more where the test for caching can tell with them."""
    size = 4 << 30
    plan_ = plan(Sizes(size, size, size), 8, 12, 1 << 30, available=room * 2 * size + 2 * size)
    assert plan_.streamed
    assert (plan_.sets - plan_.one_use, plan_.one_use, plan_.stored) == (repeated, one_use, stored)
    assert {plan_.place_of(number) for number in range(repeated, plan_.sets)} == {stored - 1}


def test_plan_without_one_use_sets_streams_none() -> None:
    plan_ = plan(Sizes(100, 50, 25), 8, 0, 300, available=0)
    assert (plan_.sets, plan_.one_use, plan_.streamed) == (3, 0, False)


@pytest.mark.parametrize(("sets", "one_use"), [(8, 12), (4, 9), (2, 0), (2, 20)])
def test_plan_with_enough_memory_has_the_sets_asked_for(sets: int, one_use: int) -> None:
    plan_ = plan(Sizes(100, 50, 25), sets, one_use, 1 << 20, available=1 << 20)
    assert (plan_.sets, plan_.one_use) == (sets + one_use, one_use)


@pytest.mark.parametrize("pool_sets", [0, 1, 3, 8])
def test_plan_has_enough_one_use_sets_where_memory_allows(pool_sets: int) -> None:
    size = 128 << 20
    plan_ = plan(Sizes(size, size, size), 8, 12, pool_sets * size, available=12 * 2 * size + 2 * size)
    assert (plan_.sets, plan_.one_use) == (12, 8)


@pytest.mark.parametrize(
    ("pool_sets", "memory_sets", "worth"),
    [(0, 12, False), (5, 12, False), (14, 12, True), (5, 8, True), (5, 3, False)],
)
def test_references_in_float32_are_worth_it_only_if_more_sets_fit(
    pool_sets: int, memory_sets: int, worth: bool
) -> None:
    """12 sets are enough. With memory for 8 of them in float64, all 12 fit in float32; with memory for 3, none do."""
    size, available = 128 << 20, (memory_sets * 3 + 2) * (128 << 20)
    kept, spilled = (
        plan(Sizes(size, item * size, size), 8, 12, pool_sets * size, available) for item in (2, 1)
    )
    assert is_worth_spilling(kept, spilled) is worth


@given(
    st.builds(Sizes, *[st.integers(0, 1 << 30)] * 3),
    st.integers(0, 64),
    st.integers(0, 64),
    st.integers(0, 1 << 34),
    st.integers(0, 1 << 34),
)
def test_plan_stays_within_bounds(
    sizes: Sizes, sets_max: int, one_use: int, pool_bytes: int, available: int
) -> None:
    result = plan(sizes, sets_max, one_use, pool_bytes, available)
    repeated = result.sets - result.one_use
    assert 2 <= repeated <= max(2, sets_max) and 0 <= result.one_use <= one_use
    assert 2 <= result.slots <= SLOTS_MAX
    in_pool = result.sets * max(sizes.inputs, sizes.expected) <= pool_bytes
    in_memory = result.sets * (sizes.inputs + sizes.expected) + 2 * sizes.outputs <= available
    stored_in_memory = result.stored * (sizes.inputs + sizes.expected) + 2 * sizes.outputs <= available
    assert not result.streamed or result.stored == 3 or stored_in_memory
    assert result.streamed or result.sets == 2 or in_pool or (result.sets <= 12 and in_memory)
    assert result.one_use >= min(one_use, 8)
    assert result.slots == 2 or result.slots * sizes.outputs <= pool_bytes


@pytest.mark.parametrize(
    ("sets", "one_use", "few", "numbers"),
    [
        (20, 12, (4, 8), [0, 1, 2, 3, *range(8, 16)]),
        (13, 8, (4, 8), [0, 1, 2, 3, *range(5, 13)]),
        (12, 8, (4, 8), list(range(12))),
        (5, 3, (2, 3), list(range(5))),
        (8, 0, (8, 0), list(range(8))),
    ],
)
def test_fewest_sets_are_the_first_of_each_kind(
    sets: int, one_use: int, few: tuple[int, int], numbers: list[int]
) -> None:
    whole = SlotPlan(sets, one_use, slots=3)
    part = fewest(whole)
    assert (part.counts, part.slots) == (few, 3)
    assert numbers_in(part, whole) == numbers


def test_streamed_sets_stay_as_planned() -> None:
    streamed = SlotPlan(20, 12, slots=2, streamed=True)
    assert fewest(streamed) == streamed


@given(st.integers(1, 9), st.lists(st.integers(0, 20), min_size=1, max_size=3), st.integers())
def test_own_distribution_gets_at_least_half(count: int, counts: list[int], seed: int) -> None:
    names = [f"d{i}" for i in range(count)]
    result = spread(names, counts, random.Random(seed))
    assert len(result) == sum(counts)
    start = 0
    for each in counts:
        assert 2 * result[start : start + each].count("d0") >= each
        start += each
    if sum(each // 2 for each in counts) >= count - 1 and sum(counts):
        assert set(names[1:]) <= set(result)


def test_few_repeated_sets_of_streamed_ones_have_the_own_distribution() -> None:
    result = spread(["own", "a", "b"], [2, 8], random.Random(1), own_least=2)
    assert result[:2] == ["own", "own"] and result[2:].count("own") == 4
    assert spread(["own", "a"], [3, 1], random.Random(1), own_least=2).count("a") == 1


def test_distributions_in_random_order() -> None:
    orders = {tuple(spread(["a", "b"], [8], random.SystemRandom())) for _ in range(50)}
    assert len(orders) > 5


def test_sets_exceeding_memory_refused() -> None:
    with pytest.raises(FaultError, match=r"need 6\.0 GiB, 1\.0 GiB are available"):
        check_room(Sizes(1 << 30, 1 << 30, 1 << 30), 0, 1 << 30)
    with pytest.raises(FaultError, match=r"3 sets .* need 8\.0 GiB, 7\.0 GiB are available"):
        check_room(Sizes(1 << 30, 1 << 30, 1 << 30), 8, 7 << 30)
    check_room(Sizes(1, 1, 1), 8, 1 << 30)
    assert SlotPlan(2, 0, 2).sets == 2
