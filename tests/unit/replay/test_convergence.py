"""The rules that say when there are enough samples."""

from __future__ import annotations

import random

import pytest

from benchguard.errors import UsageError
from benchguard.judge.carried import ONE_USE_WISHED, untestable
from benchguard.replay.convergence import (
    DOUBLINGS,
    HUGE_BYTES,
    HUGE_FIRST,
    LARGE_BYTES,
    LARGE_FIRST,
    LONG_SECONDS,
    LONGEST_SECONDS,
    PATIENCE_SECONDS,
    UNTESTED_FIRST,
    UNTESTED_SETS,
    Count,
    Interval,
    Rule,
    Variation,
    decide,
    for_copies,
    for_time,
    next_check,
    rule_of,
    shortfall,
)
from benchguard.replay.schedule import ONE_USE_LEAST


def noisy(n: int, spread: float, seed: int = 1) -> list[float]:
    generator = random.Random(seed)
    return [10.0 * (1 + spread * (2 * generator.random() - 1)) for _ in range(n)]


@pytest.mark.parametrize(
    ("until", "samples", "rule"),
    [
        (None, None, Interval(0.005, PATIENCE_SECONDS)),
        ("ci=0.005", None, Interval(0.005)),
        ("ci=0.01", None, Interval(0.01)),
        ("cv=0.01", None, Variation(0.01)),
        (None, 7, Count(7)),
    ],
)
def test_stop_rule_is_parsed_from_options(until: str | None, samples: int | None, rule: object) -> None:
    assert rule_of(until, samples) == rule


def test_required_convergence_has_the_patience_of_a_given_rule() -> None:
    assert rule_of(None, None, patient=True) == rule_of("ci=0.005", None)


@pytest.mark.parametrize("until", ["", "cv", "cv=", "cv=nan", "cv=0", "ci=2", "cv=-1", "sd=0.1", "ci=1e999"])
def test_invalid_stop_rule_is_refused(until: str) -> None:
    with pytest.raises(UsageError, match="give cv="):
        rule_of(until, None)


def test_invalid_sample_count_is_refused() -> None:
    for samples in (0, -1, 10**9):
        with pytest.raises(UsageError, match="samples"):
            rule_of(None, samples)
    with pytest.raises(UsageError, match="both"):
        rule_of("cv=0.1", 5)


def test_interval_is_checked_at_doublings() -> None:
    results, n = [], 0
    while n < DOUBLINGS[-1]:
        n = next_check(Interval(), n)
        results.append(n)
    assert tuple(results) == DOUBLINGS


@pytest.mark.parametrize(
    ("rule", "size", "looks"),
    [
        (rule_of(None, None), HUGE_BYTES, (HUGE_FIRST, LARGE_FIRST, *DOUBLINGS)),
        (rule_of(None, None), HUGE_BYTES - 1, (LARGE_FIRST, *DOUBLINGS)),
        (rule_of(None, None), LARGE_BYTES, (LARGE_FIRST, *DOUBLINGS)),
        (rule_of(None, None), LARGE_BYTES - 1, DOUBLINGS),
        (rule_of("ci=0.005", None), LARGE_BYTES, DOUBLINGS),
        (rule_of(None, 7), LARGE_BYTES, (7,)),
    ],
)
def test_large_copies_are_looked_at_earlier_without_a_rule_of_the_caller(
    rule: Rule, size: int, looks: tuple[int, ...]
) -> None:
    chosen = for_copies(rule, size)
    assert [next_check(chosen, n) for n in (0, *looks[:-1])] == [*looks]


@pytest.mark.parametrize(
    ("repeated", "first"),
    [(None, HUGE_FIRST), (UNTESTED_SETS, UNTESTED_FIRST), (UNTESTED_SETS + 1, HUGE_FIRST)],
)
def test_huge_copies_are_looked_at_soonest_where_carried_results_are_not_tested(
    repeated: int | None, first: int
) -> None:
    chosen = for_copies(rule_of(None, None), HUGE_BYTES, repeated)
    assert next_check(chosen, 0) == first
    assert next_check(for_copies(rule_of(None, None), LARGE_BYTES, repeated), 0) == LARGE_FIRST


def test_few_repeated_sets_cannot_tell_carried_results() -> None:
    assert untestable(UNTESTED_FIRST, HUGE_FIRST, ONE_USE_WISHED, UNTESTED_SETS)
    assert not untestable(UNTESTED_FIRST, HUGE_FIRST, UNTESTED_FIRST, UNTESTED_SETS + 1)
    assert UNTESTED_FIRST > ONE_USE_LEAST


@pytest.mark.parametrize(
    ("rule", "seconds", "looks"),
    [
        (rule_of(None, None), LONGEST_SECONDS, (HUGE_FIRST, LARGE_FIRST, *DOUBLINGS)),
        (rule_of(None, None), LONG_SECONDS, (LARGE_FIRST, *DOUBLINGS)),
        (rule_of(None, None), LONG_SECONDS - 1e-6, DOUBLINGS),
        (for_copies(rule_of(None, None), HUGE_BYTES), LONG_SECONDS, (HUGE_FIRST, LARGE_FIRST, *DOUBLINGS)),
        (rule_of("ci=0.005", None), LONGEST_SECONDS, DOUBLINGS),
        (rule_of(None, 7), LONGEST_SECONDS, (7,)),
    ],
)
def test_long_samples_are_looked_at_earlier_without_a_rule_of_the_caller(
    rule: Rule, seconds: float, looks: tuple[int, ...]
) -> None:
    chosen = for_time(rule, seconds)
    assert [next_check(chosen, n) for n in (0, *looks[:-1])] == [*looks]


def test_narrow_interval_ends_sampling() -> None:
    result = decide(Interval(), [10.0] * 100)
    assert result.enough and result.converged and result.reached == 0.0


def test_wide_interval_continues() -> None:
    times = noisy(100, 0.5) + [10.0] * 500
    wide = decide(Interval(), times[:100])
    assert wide.reached is not None and wide.reached > 0.005
    assert not wide.enough and not wide.converged
    assert decide(Interval(), times[:400]).converged


def test_default_bound_is_half_a_percent() -> None:
    """The median's interval of 100 samples reaches from the 40th to the 61st."""
    low, high = 10.0, 10.0 * 1.0098
    assert decide(Interval(), [low] * 45 + [10.05] * 5 + [high] * 50).converged
    assert not decide(Interval(), [low] * 45 + [10.05] * 5 + [high * 1.001] * 50).converged


def test_interval_at_the_last_doubling_ends_sampling() -> None:
    result = decide(Interval(), noisy(3200, 0.9))
    assert result.enough and not result.converged
    assert "wanted ±0.50%" in shortfall(Interval(), result, 3200, None)


def test_coarse_tick_bounds_the_wanted_width() -> None:
    """Times on a tick of 1 us: half the interval may be as wide as the tick, and that is said."""
    wide = [3.0, 5.0] * 100
    assert not decide(Interval(), wide, tick=0.032).converged
    result = decide(Interval(), wide, tick=1.0)
    assert result.converged and result.wanted == pytest.approx(0.25) and "tick" in result.note


def test_fine_tick_adds_no_note() -> None:
    assert decide(Interval(), [100.0] * 200, tick=0.032).note == ""


def test_samples_at_another_clock_extend_sampling() -> None:
    result = decide(Interval(), [10.0] * 200, tagged=3)
    assert not result.enough and "3 of 200" in result.note
    assert decide(Interval(), [10.0] * 200, tagged=2).enough
    last = decide(Interval(), [10.0] * 3200, tagged=100)
    assert last.enough and last.converged and "another clock" in last.note


def test_steady_variation_stops_early() -> None:
    assert not decide(Variation(), [10.0] * 4).enough
    assert decide(Variation(), [10.0] * 5).converged
    assert not decide(Variation(), [10.0, 11.0] * 10).enough
    assert decide(Variation(), [10.0, 11.0] * 1600).enough
    assert not decide(Variation(), [10.0, 11.0] * 1600).converged


def test_variation_is_checked_at_growing_distances() -> None:
    n, looks = 0, 0
    while n < DOUBLINGS[-1]:
        before, n = n, next_check(Variation(), n)
        assert n > before
        looks += 1
    assert looks < 100


def test_count_rule_takes_exactly_that_many() -> None:
    assert next_check(Count(7), 0) == 7
    assert not decide(Count(7), [1.0] * 6).enough
    assert decide(Count(7), [1.0] * 7).converged
    assert "6 of 7" in shortfall(Count(7), decide(Count(7), [1.0] * 6), 6, 2.0)


@pytest.mark.parametrize("times", [[0.0] * 200, []])
def test_zero_times_converge(times: list[float]) -> None:
    """An empty region takes no time: nothing is divided by its median."""
    result = decide(Interval(), times)
    assert result.converged == bool(times)
