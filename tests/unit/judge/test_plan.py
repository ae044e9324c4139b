"""Numbers of sets, slots and distributions for given memory."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchguard.ipc.slots import SLOTS_MAX, SlotPlan
from benchguard.judge.plan import Sizes, available_bytes, check_room, plan, spread
from benchguard.judge.troubles import FaultError


@pytest.mark.parametrize(
    ("room", "sets", "one_use"),
    [(0, 2, 0), (1, 2, 0), (3, 3, 1), (5, 5, 3), (6, 6, 4), (8, 8, 4), (12, 12, 6), (16, 16, 8), (99, 16, 8)],
)
def test_memory_plan_prefers_repeated_sets(room: int, sets: int, one_use: int) -> None:
    found = plan(Sizes(100, 50, 25), 8, 8, room * 100 + 99)
    assert (found.sets, found.one_use) == (sets, one_use)


@given(
    st.builds(Sizes, *[st.integers(0, 1 << 30)] * 3),
    st.integers(0, 64),
    st.integers(0, 64),
    st.integers(0, 1 << 34),
)
def test_plan_stays_within_bounds(sizes: Sizes, sets_max: int, one_use: int, pool_bytes: int) -> None:
    found = plan(sizes, sets_max, one_use, pool_bytes)
    repeated = found.sets - found.one_use
    assert 2 <= repeated <= max(2, sets_max) and 0 <= found.one_use <= one_use
    assert 2 <= found.slots <= SLOTS_MAX
    assert found.sets == 2 or found.sets * max(sizes.inputs, sizes.expected) <= pool_bytes
    assert found.slots == 2 or found.slots * sizes.outputs <= pool_bytes


@given(st.integers(1, 9), st.lists(st.integers(0, 20), min_size=1, max_size=3), st.integers())
def test_own_distribution_gets_at_least_half(count: int, counts: list[int], seed: int) -> None:
    names = [f"d{i}" for i in range(count)]
    found = spread(names, counts, random.Random(seed))
    assert len(found) == sum(counts)
    start = 0
    for each in counts:
        assert 2 * found[start : start + each].count("d0") >= each
        start += each
    if sum(each // 2 for each in counts) >= count - 1 and sum(counts):
        assert set(names[1:]) <= set(found)


def test_distributions_in_random_order() -> None:
    orders = {tuple(spread(["a", "b"], [8], random.SystemRandom())) for _ in range(50)}
    assert len(orders) > 5


def test_sets_exceeding_memory_refused() -> None:
    with pytest.raises(FaultError, match=r"need 6\.0 GiB, 1\.0 GiB are available"):
        check_room(Sizes(1 << 30, 1 << 30, 1 << 30), 1 << 30)
    check_room(Sizes(1, 1, 1), 1 << 30)
    assert 1 << 20 < available_bytes() < 1 << 60
    assert SlotPlan(2, 0, 2).sets == 2
