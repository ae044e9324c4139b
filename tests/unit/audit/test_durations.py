"""The histogram of durations."""

from __future__ import annotations

import random
from math import ceil

import pytest

from benchguard.audit.durations import Durations


@pytest.mark.parametrize("scale", [50, 1_000, 1_000_000, 10**12])
def test_quantiles_lie_within_one_percent(scale: int) -> None:
    draw = random.Random(scale)
    values = sorted(int(draw.expovariate(1 / scale)) for _ in range(5000))
    durations = Durations()
    for value in draw.sample(values, len(values)):
        durations.add(value)
    for fraction in (0.01, 0.5, 0.99):
        true = values[ceil(fraction * len(values)) - 1]
        assert abs(durations.quantile(fraction) - true) <= max(1, true / 100)
    result = durations.summary()
    assert (result.total_ns, result.max_ns, durations.count) == (sum(values), values[-1], len(values))


def test_single_duration_is_exact() -> None:
    durations = Durations()
    durations.add(123_456_789)
    assert durations.summary().median_ns == durations.summary().p99_ns == 123_456_789


def test_p99_of_two_durations_is_the_longer() -> None:
    durations = Durations()
    durations.add(10)
    durations.add(30)
    assert (durations.quantile(0.5), durations.quantile(0.99)) == (10, 30)


def test_repeated_duration_counts_as_often() -> None:
    once, many = Durations(), Durations()
    once.add(700, 1000)
    for _ in range(1000):
        many.add(700)
    assert once.summary() == many.summary() and once.count == 1000


def test_negative_duration_counts_as_zero_and_none_gives_zeros() -> None:
    durations = Durations()
    assert durations.summary().p99_ns == 0
    durations.add(-5)
    assert durations.summary().total_ns == 0


def test_memory_is_bounded_by_buckets() -> None:
    durations = Durations()
    draw = random.Random(1)
    for _ in range(100_000):
        durations.add(draw.getrandbits(draw.randrange(64)))
    assert len(durations._buckets) <= 64 * 64
