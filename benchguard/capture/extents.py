"""Ranges of addresses, joined."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable


class Joined:
    """Ranges (begin, end). Adjacent and overlapping ranges are joined."""

    def __init__(self, ranges: Iterable[tuple[int, int]] = ()) -> None:
        self.ranges: list[tuple[int, int]] = []
        for begin, end in sorted(ranges):
            if self.ranges and begin <= self.ranges[-1][1]:
                self.ranges[-1] = (self.ranges[-1][0], max(self.ranges[-1][1], end))
            else:
                self.ranges.append((begin, end))
        self._begins = [begin for begin, _ in self.ranges]

    def hold(self, address: int, size: int) -> bool:
        at = bisect_right(self._begins, address) - 1
        return at >= 0 and address + size <= self.ranges[at][1]
