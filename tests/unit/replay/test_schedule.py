"""Which input set comes when: not to be foreseen, and some of them once."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from benchguard.replay.convergence import Count
from benchguard.replay.protocol import NO_SET
from benchguard.replay.schedule import ONE_USE_WITHIN, Schedule
from tests.unit.replay.fake_engine import FakeEngine, InputPart, events_of, request, sample


def planned(sets: int, one_use: int, seed: int, samples: int) -> Schedule:
    schedule = Schedule(sets, one_use, seed)
    schedule.plan(samples)
    return schedule


def timed(schedule: Schedule, count: int) -> list[int]:
    return [schedule.next() for _ in range(count)]


@pytest.mark.parametrize("seed", range(20))
def test_one_use_sets_are_used_once_among_the_first_samples(seed: int) -> None:
    schedule = planned(12, 8, seed, 100)
    assert {schedule.warm_up() for _ in range(500)} == {0, 1, 2, 3}
    first, later = timed(schedule, ONE_USE_WITHIN), timed(schedule, 1000)
    assert {number: Counter(first)[number] for number in range(4, 12)} == dict.fromkeys(range(4, 12), 1)
    assert set(later) == {0, 1, 2, 3}


def test_places_of_one_use_sets_are_random() -> None:
    def places(seed: int) -> list[tuple[int, int]]:
        values = timed(planned(12, 8, seed, 100), 100)
        return [(place, number) for place, number in enumerate(values) if number >= 4]

    assert places(1) == places(1) != places(2)
    numbers = [[number for _, number in places(seed)] for seed in range(8)]
    assert any(each != sorted(each) for each in numbers)
    assert len({place for seed in range(40) for place, _ in places(seed)}) > 80


def test_repeated_sets_come_in_random_order() -> None:
    values = timed(planned(4, 0, 1, 100), 4000)
    pairs = Counter(itertools.pairwise(values))
    assert len(pairs) == 16 and max(pairs.values()) < 400
    assert values != timed(planned(4, 0, 2, 100), 4000)


def test_one_use_sets_do_not_exceed_the_samples() -> None:
    values = timed(planned(12, 8, 3, 5), 50)
    assert sorted(Counter(values[:5]).values()) == [1] * 5 and min(values[:5]) >= 4
    assert max(values[5:]) < 4


def test_schedule_without_inputs_draws_no_sets() -> None:
    schedule = planned(0, 0, 1, 100)
    assert (schedule.warm_up(), schedule.next()) == (NO_SET, NO_SET)


def test_warm_up_uses_no_one_use_sets() -> None:
    engine = FakeEngine(lambda n: sample(100.0, input_set=engine.sets[n]))
    parts = tuple(InputPart(number, 100, 1, number) for number in range(6))
    events_of(
        engine,
        request(Count(120), inputs=parts, input_sets=6, one_use_sets=3, schedule_seed=5),
        inputs=b"abcdef",
    )
    warm_up, first, later = engine.sets[:-120], engine.sets[-120:-20], engine.sets[-20:]
    assert warm_up and set(warm_up) == {0, 1, 2} == set(later)
    assert [Counter(first)[number] for number in (3, 4, 5)] == [1, 1, 1]
