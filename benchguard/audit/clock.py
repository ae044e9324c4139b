"""Convert counter ticks to nanoseconds, with the clock pairs that a process wrote."""

from __future__ import annotations

from bisect import bisect_right, insort

# Pairs that imply an impossible counter rate are ignored.
_SLOWEST_HZ = 1e6
_FASTEST_HZ = 1e11


class Clock:
    """Interpolates linearly between pairs; beyond the last pair, extrapolates from the last two."""

    def __init__(self) -> None:
        self._pairs: list[tuple[int, int]] = []

    def add(self, ticks: int, nanoseconds: int) -> None:
        """Add a reading of both clocks. Pairs that contradict earlier ones are ignored."""
        position = bisect_right(self._pairs, (ticks, nanoseconds))
        for other in self._pairs[max(0, position - 1) : position + 1]:
            if not _plausible(other, (ticks, nanoseconds)):
                return
        insort(self._pairs, (ticks, nanoseconds))

    def nanoseconds(self, ticks: int) -> int:
        """CLOCK_MONOTONIC at a tick; 0 without pairs."""
        pairs = self._pairs
        if len(pairs) < 2:
            return pairs[0][1] if pairs else 0
        after = min(max(bisect_right(pairs, (ticks, 0)), 1), len(pairs) - 1)
        (t0, n0), (t1, n1) = pairs[after - 1], pairs[after]
        return n0 + (ticks - t0) * (n1 - n0) // (t1 - t0)


def _plausible(one: tuple[int, int], other: tuple[int, int]) -> bool:
    ticks, nanoseconds = abs(one[0] - other[0]), abs(one[1] - other[1])
    if ticks == 0 or nanoseconds == 0 or (one[0] < other[0]) != (one[1] < other[1]):
        return False
    return _SLOWEST_HZ < ticks * 1e9 / nanoseconds < _FASTEST_HZ
