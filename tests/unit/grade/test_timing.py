"""Caching kernels are detected, or gain no time."""

from __future__ import annotations

import dataclasses
import itertools
import random
import statistics
from collections.abc import Callable

import pytest

from benchguard.grade.timing import (
    ACCUSED_MIN,
    believed,
    carried_doubt,
    carried_reason,
    first_use_of,
    is_one_use_only,
    least_reason,
    reported,
    untested,
)
from benchguard.replay.result import SampleRow

SETS = 8


def table(
    n: int, time: Callable[[bool, random.Random], float], one_use: int = 12, seed: int = 1
) -> list[SampleRow]:
    """Samples of a kernel; `time(is_new, draw)` gives the microseconds of one."""
    draw = random.Random(seed)
    places = set(draw.sample(range(min(n, 100)), min(one_use, n)))
    rows = []
    for number in range(n):
        one_use = number in places
        us = time(one_use, draw)
        of_set = SETS + number if one_use else draw.randrange(SETS)
        rows.append(
            SampleRow(
                number,
                us,
                us + 10,
                5.0,
                1980.0,
                of_set,
                False,
                (),
                one_use=one_use,
                tail_us=4.0,
                span_us=us + 100,
            )
        )
    return rows


def honest(_: bool, draw: random.Random) -> float:
    return 100 * draw.lognormvariate(0, 0.01)


def remembers(new: bool, draw: random.Random) -> float:
    return (100 if new else 50) * draw.lognormvariate(0, 0.01)


def shy(new: bool, draw: random.Random) -> float:
    """Copies the result for 10 of 16 known inputs, and works four times as long for the others."""
    if new:
        return 100 * draw.lognormvariate(0, 0.01)
    return (50 if draw.random() < 10 / 16 else 400) * draw.lognormvariate(0, 0.01)


def easy(new: bool, draw: random.Random) -> float:
    """Like shy, and a third of the new inputs is easy and honestly fast."""
    if new:
        return (30 if draw.random() < 1 / 3 else 100) * draw.lognormvariate(0, 0.01)
    return shy(new, draw)


def reasons(rows: list[SampleRow]) -> list[str]:
    first_use = first_use_of(rows)
    assert first_use is not None
    return [text for text in (first_use.text, least_reason(rows, ACCUSED_MIN)) if text]


@pytest.mark.full
def test_honest_kernel_gives_no_reason() -> None:
    """At most one false alarm in 400 runs."""
    assert sum(bool(reasons(table(200, honest, seed=seed))) for seed in range(400)) <= 1


@pytest.mark.parametrize("cheat", [remembers, shy])
@pytest.mark.parametrize("seed", range(5))
def test_caching_kernel_is_detected(cheat: Callable[[bool, random.Random], float], seed: int) -> None:
    assert reasons(table(200, cheat, seed=seed))


def test_partly_caching_kernel_is_detected_by_fastest_sample() -> None:
    """The rank test misses it, because its one-use samples have middling ranks."""
    rows = table(200, shy)
    first_use = first_use_of(rows)
    assert first_use is not None
    assert not first_use.remembered
    assert "the fastest of" in least_reason(rows, ACCUSED_MIN)


@pytest.mark.parametrize(("slower", "is_accused"), [(1.0, False), (1.05, False), (1.2, True)])
def test_one_use_inputs_that_take_little_longer_make_the_time_and_no_accusation(
    slower: float, is_accused: bool
) -> None:
    rows = table(200, lambda new, draw: (slower if new else 1.0) * draw.lognormvariate(3, 0.002))
    reason, doubt = (each(rows, first_use_of(rows)) for each in (carried_reason, carried_doubt))
    assert bool(reason) is is_accused
    assert bool(doubt) is (slower > 1.0)
    assert all(row.one_use for row in reported(rows, doubt)) is (slower > 1.0)


@pytest.mark.parametrize(("one_use", "unprimed"), [(8, False), (12, True)])
def test_noise_of_two_speeds_accuses_nobody_where_samples_are_few_or_none_is_queued(
    one_use: int, unprimed: bool
) -> None:
    """All one-use samples are slow by chance, or because the host is. The time is theirs, so a cheat gains nothing."""
    speeds = table(100, lambda new, draw: 66.0 if new or draw.random() < 0.45 else 58.0, one_use)
    rows = [dataclasses.replace(each, unprimed=unprimed) for each in speeds]
    doubt = carried_doubt(rows, first_use_of(rows))
    assert carried_reason(rows, first_use_of(rows)) == "" and doubt
    assert all(row.one_use for row in reported(rows, doubt))


def test_results_that_are_kept_are_seen_where_no_sample_is_queued() -> None:
    rows = [dataclasses.replace(each, unprimed=True) for each in table(200, remembers)]
    assert carried_reason(rows, first_use_of(rows))


@pytest.mark.parametrize("n", [1, 5, 12, 20, 31])
def test_few_samples_report_one_use_inputs_only(n: int) -> None:
    rows = reported(table(n, remembers))
    assert rows
    assert all(row.one_use for row in rows)
    assert all(row.device_us > 90 for row in rows)


def test_enough_samples_report_all() -> None:
    """But in a few of 400 runs, where noise makes a dozen samples that much slower: then the time is theirs."""
    runs = [table(200, honest, seed=seed) for seed in range(400)]
    assert sum(reported(rows) != rows for rows in runs) <= 2


@pytest.mark.parametrize("cheat", [remembers, shy, easy])
@pytest.mark.parametrize("seed", range(10))
def test_caching_kernel_gains_no_time(cheat: Callable[[bool, random.Random], float], seed: int) -> None:
    """Whether it is found or not: it would have to be fast on more than half of what it never saw."""
    rows = reported(table(200, cheat, seed=seed))
    times = sorted(row.device_us for row in rows)
    assert times[len(times) // 2] > 95


def with_other_inputs(rows: list[SampleRow], fast_us: float) -> list[SampleRow]:
    """Half of the sets of each kind have another distribution, on which the kernel takes `fast_us`."""
    once = [row.input_set for row in rows if row.one_use]
    others = {*range(0, SETS, 2), *once[::2]}
    return [
        dataclasses.replace(row, own=False, device_us=fast_us) if row.input_set in others else row
        for row in rows
    ]


@pytest.mark.parametrize("cheat", [honest, remembers])
@pytest.mark.parametrize("n", [14, 40, 200])
@pytest.mark.parametrize("seed", range(5))
def test_kernel_that_is_fast_on_other_distributions_gains_no_time(
    cheat: Callable[[bool, random.Random], float], n: int, seed: int
) -> None:
    """The median of all samples lies between its two times."""
    rows = reported(with_other_inputs(table(n, cheat, seed=seed), 10.0))
    times = sorted(row.device_us for row in rows)
    assert times[len(times) // 2] > 95


def test_kernel_whose_time_does_not_depend_on_its_inputs_is_timed_on_all() -> None:
    rows = [dataclasses.replace(row, own=bool((row.input_set or 0) % 2)) for row in table(200, honest)]
    assert reported(rows) == rows


def test_without_one_use_sets_no_reason_is_given() -> None:
    rows = table(50, remembers, one_use=0)
    assert first_use_of(rows) is None
    assert least_reason(rows, ACCUSED_MIN) == ""
    assert reported(rows) == rows


@pytest.mark.parametrize("sets", [(4, 4), (2, 6)], ids=["4 and 4", "2 and 6"])
def test_time_is_that_of_one_use_samples_where_sets_are_too_few(sets: tuple[int, int]) -> None:
    """128 MiB an input set left 4 and 4 sets, with which no difference is significant."""
    repeated, one_use = sets
    once, again = itertools.cycle(range(100, 100 + one_use)), itertools.cycle(range(repeated))
    rows = [
        dataclasses.replace(row, input_set=next(once if row.one_use else again))
        for row in table(200, remembers, one_use=12)
    ]
    assert untested(rows) == f"{one_use} one-use and {repeated} repeated input sets are too few"
    assert all(row.one_use for row in reported(rows))


def test_flag_of_a_kernel_that_marks_its_slow_samples_buys_no_time() -> None:
    """It marks each sample on an unknown input as unprimed, so that only its cached answers would count."""
    rows = [dataclasses.replace(row, unprimed=row.one_use) for row in table(200, remembers)]
    assert untested(rows) == "12 samples on one-use inputs began before they were queued"
    assert {row.one_use for row in reported(rows)} == {True}


def test_unprimed_samples_on_repeated_inputs_do_not_count() -> None:
    rows = [
        dataclasses.replace(row, unprimed=not row.one_use and number % 3 == 0)
        for number, row in enumerate(table(200, honest))
    ]
    assert len(reported(rows)) == sum(not row.unprimed for row in rows)


def test_samples_count_where_none_is_primed() -> None:
    rows = [dataclasses.replace(row, unprimed=True) for row in table(200, honest)]
    assert len(reported(rows)) == 200


def mean_times(rows: list[SampleRow]) -> list[float]:
    return believed(reported(rows), [row for row in rows if row.one_use])


def test_mean_of_results_cached_now_and_then_is_that_of_real_work() -> None:
    """40 of 100 known inputs are answered at once: the median and the tests see nothing."""

    def seldom(new: bool, draw: random.Random) -> float:
        return (5 if not new and draw.random() < 0.4 else 100) * draw.lognormvariate(0, 0.01)

    rows = table(200, seldom)
    assert reasons(rows) == [] and len(reported(rows)) == 200
    assert statistics.fmean(row.device_us for row in rows) < 70
    assert statistics.fmean(mean_times(rows)) > 95


def test_mean_of_honest_times_is_theirs() -> None:
    rows = table(200, honest)
    assert statistics.fmean(mean_times(rows)) == pytest.approx(
        statistics.fmean(row.device_us for row in rows), rel=1e-3
    )


@pytest.mark.parametrize(("fast", "alone"), [(1.0, True), (0.5, True), (0.05, False)])
def test_samples_on_own_inputs_count_alone_where_others_shorten_the_mean(fast: float, alone: bool) -> None:
    """More than half of the samples are on the problem's own distribution, so the median of all is theirs."""
    draw = random.Random(7)
    rows = [
        row
        if number % 9 < 5
        else dataclasses.replace(row, own=False, device_us=30.0 if draw.random() < fast else row.device_us)
        for number, row in enumerate(table(400, honest, 20))
    ]
    found = reported(rows)
    assert (len(found) < len(rows)) is alone
    assert statistics.fmean(row.device_us for row in found) > 97


def test_honest_times_on_all_distributions_count() -> None:
    for seed in range(50):
        rows = [
            dataclasses.replace(row, own=number % 2 == 0)
            for number, row in enumerate(table(50, honest, seed=seed))
        ]
        assert len(reported(rows)) == len(rows)


def test_few_one_use_samples_on_own_inputs_rarely_decide_by_chance() -> None:
    """The median of a few decided for 9 of 300 honest kernels whose times spread by 2 %."""
    alone = 0
    for seed in range(300):
        rows = table(100, lambda _, draw: 25 * draw.lognormvariate(0, 0.02), seed=seed)
        alone += is_one_use_only(
            [dataclasses.replace(row, own=number % 2 == 0) for number, row in enumerate(rows)]
        )
    assert alone <= 3


def test_few_one_use_samples_on_own_inputs_decide_where_results_are_kept() -> None:
    """Only on the problem's own inputs, so that the samples on all inputs do not tell."""
    draw = random.Random(5)
    rows = [
        dataclasses.replace(row, own=own, device_us=row.device_us if own else honest(False, draw))
        for own, row in zip(
            itertools.cycle([True, False, False]), table(100, keeps_some, 12, seed=3), strict=False
        )
    ]
    assert 4 <= sum(row.one_use and row.own for row in rows) < 8
    assert is_one_use_only(rows)


def keeps_some(is_new: bool, draw: random.Random) -> float:
    return honest(is_new, draw) * (1.0 if is_new else 0.9)


def test_believed_times_on_own_inputs_are_bounded_by_one_use_samples_on_own_inputs() -> None:
    """A kernel is fast on the other distributions, and on inputs of the problem's own that it has seen."""
    rows = [
        dataclasses.replace(row, own=own, device_us=row.device_us if own else 30.0)
        for own, row in zip(itertools.cycle([True, False]), table(400, remembers, 20), strict=False)
    ]
    once = [row for row in rows if row.one_use]
    assert 4 <= sum(row.own for row in once) < len(once)
    times = believed(rows, once)
    assert min(time for row, time in zip(rows, times, strict=True) if row.own) > 95
    assert {time for row, time in zip(rows, times, strict=True) if not row.own} == {30.0}


def test_believed_times_are_those_of_one_use_inputs_where_nothing_was_tested() -> None:
    rows = table(26, remembers)
    assert untested(rows) and len(mean_times(rows)) == 12 and min(mean_times(rows)) > 90


def test_check_for_carried_results_cannot_tell_with_a_time_below_zero() -> None:
    """A kernel that overwrote an event's time once: the times have no logarithms then."""
    rows = table(200, honest)
    assert untested(rows) == ""
    rows[50] = dataclasses.replace(rows[50], device_us=-5.0)
    assert untested(rows) == "the times of 1 samples are not above 0"
    assert all(row.one_use for row in reported(rows))
