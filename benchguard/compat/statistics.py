"""pygpubench's result types and statistics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..errors import UsageError
from ..grade.result import GradeResult

NOT_RUN = -1.0


@dataclass
class BenchmarkResult:
    """The result of do_bench_isolated.

    Attributes:
        event_overhead_us: time of an empty pair of events, in microseconds.
        time_us: time of each repeat in microseconds; -1 for a repeat that did not run.
        errors: number of wrong timed outputs.
        full: whether every repeat ran.
        grade: the full result, which pygpubench does not have.
    """

    event_overhead_us: float | None
    time_us: list[float]
    errors: int | None
    full: bool = False
    grade: GradeResult | None = field(default=None, repr=False)

    @property
    def success(self) -> bool:
        return self.full and self.errors == 0


@dataclass
class BenchmarkStats:
    """Statistics in microseconds. `median` is the upper median, `std` the sample deviation, `err` is std /
    sqrt(runs)."""

    runs: int
    expected: int
    best: float
    worst: float
    median: float
    mean: float
    std: float
    err: float

    def __str__(self) -> str:
        text = f"{self.mean:.1f} ± {self.std:.2f} µs [{self.best:.1f} - {self.median:.1f} - {self.worst:.1f}]"
        return text if self.runs == self.expected else f"⚠️ {text}"


def basic_stats(time_us: Sequence[float]) -> BenchmarkStats:
    """Statistics of the repeats that ran (times in microseconds). Raises UsageError for fewer than two."""
    valid = sorted(each for each in time_us if each > 0)
    runs = len(valid)
    if runs < 2:
        raise UsageError(f"{runs} of {len(time_us)} repeats ran; statistics need at least two")
    mean = sum(valid) / runs
    std = math.sqrt(sum((each - mean) ** 2 for each in valid) / (runs - 1))
    return BenchmarkStats(
        runs, len(time_us), valid[0], valid[-1], valid[runs // 2], mean, std, std / math.sqrt(runs)
    )
