"""Which cases of a suite have times that count."""

from __future__ import annotations

from collections.abc import Sequence

BENCHMARK = "benchmark."
"""The begin of the names of a suite's benchmarks; its other cases are tests."""

RANKINGS = ("last", "mean", "geom")


UNTIMED_SETS = 2
"""Input sets of each kind of a case whose time does not count: one of the problem's own distribution, one of another.
Its outputs are checked, and carried results cannot help it. GPU MODE's own harness draws one set."""


def timed_cases(names: Sequence[str], ranking: str) -> frozenset[str]:
    """The cases whose times are of interest: the benchmarks of a suite with a ranking, if there are any, or all."""
    benchmarks = frozenset(each for each in names if each.startswith(BENCHMARK))
    return benchmarks if ranking and benchmarks else frozenset(names)
