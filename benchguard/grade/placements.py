"""The time of a case over the processes that took its samples. Each has other physical memory and another context.

Times of one kernel differ from context to context, by 1 % for kernels of a few microseconds, while each gives a much
narrower interval (docs/adr/0039). So contexts, not samples, are the observations. Pure functions.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from ..replay.result import SampleRow
from ..replay.statistics import Summary
from .comparison import mean_interval
from .result import Placements
from .timing import own_median

SAMPLES_MIN = 5
"""Reported samples that each process must have, so that one slow sample does not decide its median."""


def placements_of(
    rows: Sequence[SampleRow], times: Sequence[float], processes: Collection[int]
) -> Placements | None:
    """The median of each process. `times` are those of `rows`, in microseconds.

    None for one process, or if one has fewer than SAMPLES_MIN rows. Input sets are drawn at random, so one may have
    most samples on the other distributions, and another one few. So each chooses as scored() does for all of them.
    """
    groups: dict[int, list[tuple[bool, float]]] = {each: [] for each in sorted(processes)}
    for row, time in zip(rows, times, strict=True):
        groups[row.process].append((row.own, time))
    if len(groups) == 1 or min(map(len, groups.values()), default=0) < SAMPLES_MIN:
        return None
    medians = [own_median(group) for group in groups.values()]
    if min(medians) <= 0:
        return None
    return Placements(tuple(medians), spread=max(medians) / min(medians) - 1)


def placed(summary: Summary, placements: Placements | None) -> Summary:
    """The summary with the time over all processes: the geometric mean of their medians, and its 95 % interval."""
    if placements is None:
        return summary
    mean, half = mean_interval([math.log(each) for each in placements.medians_us])
    return replace(summary, median=math.exp(mean), ci95=(math.exp(mean - half), math.exp(mean + half)))


def notes_of(placements: Placements | None) -> Iterator[str]:
    if placements is not None:
        low, high = min(placements.medians_us), max(placements.medians_us)
        yield (
            f"timed in {len(placements.medians_us)} processes, with medians from {low:.4g} to {high:.4g} us "
            f"({placements.spread:.1%} apart)"
        )
