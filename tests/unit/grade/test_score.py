"""The score of a leaderboard."""

from __future__ import annotations

import pytest

from benchguard.grade.score import score_of
from benchguard.problem.ranking import timed_cases
from tests.unit.compat.made import timed_case

CASES = [
    timed_case("test.0", 999.0),
    timed_case("benchmark.0", 1.0, 3.0),
    timed_case("benchmark.1", 8.0, 8.0),
]


@pytest.mark.parametrize(("ranking", "microseconds"), [("geom", 4.0), ("mean", 5.0), ("last", 8.0)])
def test_score_follows_the_ranking(ranking: str, microseconds: float) -> None:
    """kernelbot's compute_score: from the mean times of the benchmarks, in seconds."""
    assert score_of(CASES, ranking) == pytest.approx(microseconds * 1e-6)


def test_suites_without_benchmarks_have_no_score() -> None:
    assert score_of(CASES, "") is None
    assert score_of(CASES[:1], "geom") is None


def test_samples_that_do_not_count_are_not_in_the_score() -> None:
    cases = [timed_case("benchmark.0", 1.0, 1.0, 9.0, scored_samples=(9.0,))]
    assert score_of(cases, "geom") == pytest.approx(9e-6)


@pytest.mark.parametrize(
    ("names", "ranking", "timed"),
    [
        (["test.0", "benchmark.0", "benchmark.1"], "geom", {"benchmark.0", "benchmark.1"}),
        (["test.0", "test.1"], "last", {"test.0", "test.1"}),
        (["small", "benchmark.0"], "", {"small", "benchmark.0"}),
    ],
)
def test_tests_of_a_ranked_suite_are_timed_only_without_benchmarks(
    names: list[str], ranking: str, timed: set[str]
) -> None:
    assert timed_cases(names, ranking) == timed
