"""Total, median and 99th percentile of durations, in bounded memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import ceil

from ..units import duration_text

SUB_BITS = 6
"""Buckets of one octave: 2**SUB_BITS. A median lies within 1/128 of the true one."""


@dataclass(frozen=True)
class HostTime:
    """Time between entry and return of calls on the host, in nanoseconds; median and p99 are within 1 %."""

    total_ns: int
    median_ns: int
    p99_ns: int
    max_ns: int


@dataclass(frozen=True)
class GpuTime:
    """Time between events around launches on the GPU, in nanoseconds; median and p99 are within 1 %.

    `launches` were timed. The time of an `early` launch includes the wait until the launch was queued.
    """

    launches: int
    early: int
    total_ns: int
    median_ns: int
    p99_ns: int
    max_ns: int


@dataclass
class Durations:
    """A histogram whose buckets grow with the duration: at most 64 for each power of two."""

    total: int = 0
    count: int = 0
    least: int = 0
    most: int = 0
    _buckets: Counter[int] = field(default_factory=Counter)

    def add(self, nanoseconds: int, count: int = 1) -> None:
        """Add `count` equal durations. Clocks of different processors may give negative ones, which count as 0."""
        nanoseconds = max(nanoseconds, 0)
        self.least = min(self.least, nanoseconds) if self.count else nanoseconds
        self.most = max(self.most, nanoseconds)
        self.total += nanoseconds * count
        self.count += count
        shift = max(nanoseconds.bit_length() - SUB_BITS - 1, 0)
        self._buckets[shift << SUB_BITS + 1 | nanoseconds >> shift] += count

    def quantile(self, fraction: float) -> int:
        """The middle of the bucket that the quantile (nearest rank) is in; 0 without durations."""
        rank = ceil(fraction * self.count)
        below = 0
        for bucket in sorted(self._buckets):
            below += self._buckets[bucket]
            if below >= rank:
                shift = bucket >> SUB_BITS + 1
                low = (bucket & (2 << SUB_BITS) - 1) << shift
                return min(max(low + (1 << shift) // 2, self.least), self.most)
        return 0

    def summary(self) -> HostTime:
        return HostTime(self.total, self.quantile(0.5), self.quantile(0.99), self.most)


def overhead_text(overhead_ns: int | None) -> str:
    """Say whether times are without what the events around a launch add."""
    if overhead_ns is None:
        return "times include what the events around a launch add, which was not measured"
    return f"{duration_text(overhead_ns)} for the events around a launch are subtracted"
