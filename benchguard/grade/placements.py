"""Time a case in several replays. Each has a process of its own, with other physical memory and another context.

Times of one kernel differ from process to process, by 1 % for kernels of a few microseconds, while each process gives
a much narrower interval (docs/adr/0039). So replays, not samples, are the observations. Pure functions.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import msgspec

from ..judge.contract import Checked
from ..replay.clocks import Clocks
from ..replay.result import ReplayResult, SampleRow
from ..replay.statistics import Summary
from .comparison import mean_interval
from .result import Placements
from .timing import own_median


@dataclass(frozen=True)
class Pooled:
    """The samples of all replays of a case as one replay's.

    `ends` has the time of the last sample of each replay. It is empty for one replay.
    """

    result: ReplayResult
    checked: Checked
    ends: tuple[int, ...]


def pooled(replays: Sequence[tuple[ReplayResult, Checked]]) -> Pooled:
    """Put replays together. Each must have passed, and its outputs must be right."""
    if len(replays) == 1:
        return Pooled(*replays[0], ())
    results, checks = zip(*replays, strict=True)
    last: ReplayResult = results[-1]
    counts: Counter[int] = Counter()
    for check in checks:
        counts.update(dict(check.counts))
    result = replace(
        last,
        table=tuple(chain.from_iterable(each.table for each in results)),
        empty=tuple(chain.from_iterable(each.empty for each in results)),
        warm=tuple(chain.from_iterable(each.warm for each in results)),
        converged=all(each.converged for each in results),
        clocks=_clocks_of(results),
        confinement=_confinement_of(results),
        host_wait=max(each.host_wait for each in results),
        notes=tuple(dict.fromkeys(chain.from_iterable(each.notes for each in results))),
        wall_s=math.fsum(each.wall_s for each in results),
    )
    checked = msgspec.structs.replace(
        checks[-1],
        samples=sum(each.samples for each in checks),
        max_absolute_error=max(each.max_absolute_error for each in checks),
        max_relative_error=max(each.max_relative_error for each in checks),
        nondeterministic=max(each.nondeterministic for each in checks),
        counts=tuple(sorted(counts.items())),
        decided_by_rounding=max(each.decided_by_rounding for each in checks),
        rounding_factor=max(each.rounding_factor for each in checks),
    )
    return Pooled(result, checked, tuple(each.table[-1].ended_ns for each in results))


def _clocks_of(results: Sequence[ReplayResult]) -> Clocks:
    """The clocks of the last replay. Other programs count in all: else one that ended before would be no excuse for
    the samples that it disturbed, and the submission would be accused."""
    clocks = [each.clocks for each in results]
    return replace(
        clocks[-1],
        throttled_samples=sum(each.throttled_samples for each in clocks),
        other_processes=max(each.other_processes for each in clocks),
    )


def _confinement_of(results: Sequence[ReplayResult]) -> dict[str, str]:
    """A protection is on if it was on in all replays."""
    features: dict[str, str] = {}
    for name, state in chain.from_iterable(each.confinement.items() for each in results):
        if features.get(name, "on") == "on":
            features[name] = state
    return features


def placements_of(
    rows: Sequence[SampleRow], times: Sequence[float], ends: Sequence[int]
) -> Placements | None:
    """The median of each replay. `times` are those of `rows`, in microseconds.

    None without `ends`, or if a replay has no such row. Input sets are drawn at random, so one replay may have most
    samples on the other distributions, and another one few. So each replay chooses as scored() does for all of them.
    """
    if not ends:
        return None
    groups: list[list[tuple[bool, float]]] = [[] for _ in ends]
    for row, time in zip(rows, times, strict=True):
        groups[next(number for number, end in enumerate(ends) if row.ended_ns <= end)].append((row.own, time))
    if not all(groups):
        return None
    medians = [own_median(group) for group in groups]
    if min(medians) <= 0:
        return None
    return Placements(tuple(medians), spread=max(medians) / min(medians) - 1)


def placed(summary: Summary, placements: Placements | None) -> Summary:
    """The summary with the time over all replays: the geometric mean of their medians, and its 95 % interval."""
    if placements is None:
        return summary
    mean, half = mean_interval([math.log(each) for each in placements.medians_us])
    return replace(summary, median=math.exp(mean), ci95=(math.exp(mean - half), math.exp(mean + half)))


def notes_of(placements: Placements | None) -> Iterator[str]:
    if placements is not None:
        low, high = min(placements.medians_us), max(placements.medians_us)
        yield (
            f"timed in {len(placements.medians_us)} replays, with medians from {low:.4g} to {high:.4g} us "
            f"({placements.spread:.1%} apart)"
        )
