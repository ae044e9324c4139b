"""Is a range of addresses inside memory that the capture has?"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate


class Joined:
    """Ranges (begin, end); those that meet or overlap are one."""

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


class Separate:
    """Ranges that may overlap; something is inside if one alone holds it."""

    def __init__(self, ranges: Iterable[tuple[int, int]] = ()) -> None:
        in_order = sorted(ranges)
        self._begins = [begin for begin, _ in in_order]
        self._furthest = list(accumulate((end for _, end in in_order), max))

    def hold(self, address: int, size: int) -> bool:
        at = bisect_right(self._begins, address) - 1
        return at >= 0 and address + size <= self._furthest[at]
