"""One number for a submission, as the suite's own leaderboard computes it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..problem.ranking import BENCHMARK

if TYPE_CHECKING:
    from .result import GradedCase


def score_of(cases: Sequence[GradedCase], ranking: str) -> float | None:
    """The score in seconds, as kernelbot computes it from the mean time of each benchmark; less is better.

    Args:
        cases: the graded cases.
        ranking: "last": the time of the last benchmark; "mean", "geom": the arithmetic or geometric mean of all.

    Returns:
        None without a ranking or without timed benchmarks.
    """
    means = [
        statistics.fmean(case.scored) / 1e6
        for case in cases
        if case.name.startswith(BENCHMARK) and case.samples
    ]
    if not ranking or not means:
        return None
    if ranking == "last":
        return means[-1]
    return statistics.fmean(means) if ranking == "mean" else math.exp(statistics.fmean(map(math.log, means)))
