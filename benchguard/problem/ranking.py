"""Which cases of a suite have times that count."""

from __future__ import annotations

from collections.abc import Sequence

BENCHMARK = "benchmark."
"""The begin of the names of a suite's benchmarks; its other cases are tests."""

RANKINGS = ("last", "mean", "geom")


def timed_cases(names: Sequence[str], ranking: str) -> frozenset[str]:
    """The cases whose times are of interest: the benchmarks of a suite with a ranking, if there are any, or all."""
    benchmarks = frozenset(each for each in names if each.startswith(BENCHMARK))
    return benchmarks if ranking and benchmarks else frozenset(names)
