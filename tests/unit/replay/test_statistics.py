"""Statistics of samples: exact on small cases, and as numpy has them on any."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchguard.replay.statistics import (
    median_interval,
    median_rank,
    quantile,
    summarise,
    trimmed_mean,
    variation,
)

TIMES = st.lists(st.floats(min_value=1e-3, max_value=1e9), min_size=1, max_size=200)


def coverage(n: int, rank: int) -> Fraction:
    """How often the rank-th smallest and largest of n coin-like positions enclose the median."""
    missed = sum(math.comb(n, below) for below in range(rank))
    return 1 - Fraction(2 * missed, 2**n)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_few_samples_have_no_interval(n: int) -> None:
    assert median_rank(n) is None
    assert summarise([1.0] * n).ci95 is None


@pytest.mark.parametrize(
    ("n", "rank"), [(6, 1), (8, 1), (9, 2), (11, 2), (12, 3), (20, 6), (30, 10), (100, 40)]
)
def test_interval_ranks_match_printed_tables(n: int, rank: int) -> None:
    """Conover, Practical Nonparametric Statistics: the sign test's table."""
    assert median_rank(n) == rank


@pytest.mark.parametrize("n", [*range(6, 80), 100, 200, 400, 800])
def test_interval_rank_is_the_largest_that_covers(n: int) -> None:
    rank = median_rank(n)
    assert rank is not None
    assert coverage(n, rank) >= Fraction(19, 20) > coverage(n, rank + 1)


def test_interval_covers_the_median_at_its_level() -> None:
    """Every way in which six samples can fall on either side of the median."""
    inside = 0
    for sides in itertools.product((-1.0, 1.0), repeat=6):
        interval = median_interval(sorted(sides))
        assert interval is not None
        inside += interval[0] < 0 < interval[1]
    assert Fraction(inside, 2**6) == coverage(6, 1)


@given(TIMES)
def test_summary_matches_numpy(times: list[float]) -> None:
    numpy = pytest.importorskip("numpy")
    result = summarise(times)
    near = pytest.approx
    assert result.n == len(times)
    assert result.median == near(numpy.median(times), rel=1e-12)
    assert result.mean == near(numpy.mean(times), rel=1e-9)
    assert (result.p5, result.p95) == near(tuple(numpy.percentile(times, [5, 95])), rel=1e-9)
    assert result.min == min(times)
    spread = numpy.median(numpy.abs(numpy.array(times) - result.median))
    assert result.mad == near(spread, rel=1e-9, abs=1e-12)


@given(TIMES)
def test_summary_values_are_ordered(times: list[float]) -> None:
    result = summarise(times)
    assert result.min <= result.p5 <= result.median <= result.p95
    if result.ci95 is not None:
        assert result.ci95[0] <= result.median <= result.ci95[1]


def test_trimmed_mean_ignores_both_ends() -> None:
    assert trimmed_mean([-1e9, *[2.0] * 8, 1e9]) == 2.0
    assert trimmed_mean([1.0, 2.0, 6.0]) == 3.0


def test_quantile_between_values_interpolates() -> None:
    assert quantile([1.0, 2.0, 4.0], 0.5) == 2.0
    assert quantile([1.0, 2.0, 4.0], 0.75) == 3.0
    assert quantile([7.0], 0.95) == 7.0


def test_variation_is_the_sample_deviation_over_the_mean() -> None:
    assert variation([1.0, 3.0]) == pytest.approx(math.sqrt(2) / 2)
    assert variation([5.0, 5.0, 5.0]) == 0.0
    assert variation([0.0, 0.0]) == math.inf
