"""The timing loop with siblings: which process takes which samples, and what happens to one that cannot."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

import pytest

from benchguard.replay.contract import EngineError
from benchguard.replay.convergence import Count, Interval
from benchguard.replay.in_a_row import LEAST
from benchguard.replay.loop import LONG_US, WARM_UP_ROUND
from benchguard.replay.protocol import (
    CANNOT,
    FAILED,
    NO_DRIVER,
    Batch,
    Done,
    Event,
    Failed,
    InputPart,
    TimedSample,
)
from tests.unit.replay.fake_engine import FakeEngine, events_of, request, sample


def engines(count: int) -> list[FakeEngine]:
    """Engine n takes samples of 100 + n microseconds."""
    return [FakeEngine(samples=lambda _, us=100.0 + n: sample(us)) for n in range(count)]


def taken(events: list[Event]) -> list[TimedSample]:
    return [each for event in events if isinstance(event, Batch) for each in event.samples]


def done_of(events: list[Event]) -> Done:
    assert isinstance(events[-1], Done), events[-1]
    return events[-1]


@pytest.mark.parametrize("processes", [1, 2, 4])
@pytest.mark.parametrize("samples", [1, 7, 20, 100])
def test_samples_are_shared_evenly_each_process_in_one_turn(processes: int, samples: int) -> None:
    first, *others = engines(processes)
    rows = taken(events_of(first, request(rule=Count(samples), processes=processes), siblings=others))
    counts = Counter(row.process for row in rows)
    assert len(rows) == samples and max(counts.values()) <= -(-samples // processes)
    assert len(list(groupby(row.process for row in rows))) == len(counts)
    assert all(row.sample.device_us == 100.0 + row.process for row in rows)


def test_each_further_look_gives_every_process_the_same_number_again() -> None:
    first, *others = engines(4)
    rule = Interval(half_width=1e-6, patience=None)
    asked = request(rule=rule, processes=4, sampling_seconds=0.5)
    counts = Counter(row.process for row in taken(events_of(first, asked, siblings=others))[:400])
    assert set(counts.values()) == {100}


def test_sibling_holds_the_input_sets_and_fills_the_outputs_before_it_takes_samples() -> None:
    first, other = engines(2)
    parts = tuple(InputPart(number, 64, 2, 2 * number) for number in range(3))
    asked = request(rule=Count(20), processes=2, inputs=parts, input_sets=3)
    events_of(first, asked, inputs=bytes(range(6)), siblings=[other])
    assert other.inputs == first.inputs == [(n, 64, bytes([2 * n, 2 * n + 1])) for n in range(3)]
    assert other.calls[:4] == ["prepare", "input", "input", "input"] and other.taken > 10


def test_samples_that_are_not_timed_precede_those_of_each_process() -> None:
    first, other = engines(2)
    events_of(first, request(rule=Count(20), processes=2), siblings=[other])
    assert (
        other.taken == WARM_UP_ROUND + 1 + 10
    )  # one more, because another context's contents are in the caches


@pytest.mark.parametrize("status", [NO_DRIVER, CANNOT])
def test_sibling_that_cannot_be_prepared_leaves_its_samples_to_the_others(status: int) -> None:
    first, lacking, other = engines(3)
    lacking.fails["prepare"] = EngineError(status, "there is no memory left")
    events = events_of(first, request(rule=Count(20), processes=3), siblings=[lacking, other])
    assert Counter(row.process for row in taken(events)) == {0: 10, 1: 10}
    assert taken(events)[-1].sample.device_us == 102.0
    assert done_of(events).notes == (
        "one process fewer takes samples, because it could not be prepared: there is no memory left",
    )


def test_sibling_in_which_a_kernel_fails_ends_the_replay() -> None:
    first, other = engines(2)
    other.fails["measure"] = EngineError(FAILED, "a kernel faulted")
    events = events_of(first, request(rule=Count(20), processes=2), siblings=[other])
    assert isinstance(events[-1], Failed) and events[-1].text == "a kernel faulted"


def test_every_process_takes_samples_in_a_row_and_the_first_one_warm_samples() -> None:
    first, other = engines(2)
    for engine, us in ((first, 100.0), (other, 101.0)):
        engine.samples = lambda _, engine=engine, us=us: sample(us, input_set=engine.sets[-1])  # type: ignore[misc]
    asked = request(rule=Count(20), processes=2, warm_samples=5, input_sets=3, in_a_row=True)
    done = done_of(events_of(first, asked, siblings=[other]))
    assert {each.device_us for each in done.warm} == {100.0}
    assert "warm True" not in other.calls
    assert [each.process for each in done.in_a_row] == [0, 1]
    for calls, us in zip(done.in_a_row, (100.0, 101.0), strict=True):
        assert len(calls.samples) >= LEAST and {each.device_us for each in calls.samples} == {us}


def test_process_that_took_no_other_samples_takes_none_in_a_row() -> None:
    first, other = engines(2)
    first.samples = lambda _: sample(100.0, input_set=first.sets[-1])
    asked = request(rule=Count(1), processes=2, input_sets=3, in_a_row=True)
    done = done_of(events_of(first, asked, siblings=[other]))
    assert [each.process for each in done.in_a_row] == [0] and "follow True" not in other.calls


@pytest.mark.parametrize(("us", "processes"), [(LONG_US - 1, {0, 1, 2}), (LONG_US, {0})])
def test_long_samples_are_those_of_one_process(us: float, processes: set[int]) -> None:
    first, *others = (FakeEngine(samples=lambda _: sample(us)) for _ in range(3))
    rows = taken(events_of(first, request(rule=Count(30), processes=3), siblings=others))
    assert len(rows) == 30 and {row.process for row in rows} == processes


@pytest.mark.parametrize("warm_up", [0, 10])
def test_short_samples_stay_those_of_all_processes_though_the_last_warm_up_sample_was_long(
    warm_up: int,
) -> None:
    first, *others = (FakeEngine(samples=lambda n: sample(LONG_US if n == 9 else 100.0)) for _ in range(3))
    asked = request(rule=Count(30), processes=3, warm_up_samples=warm_up)
    rows = taken(events_of(first, asked, siblings=others))
    assert {row.process for row in rows} == {0, 1, 2}
