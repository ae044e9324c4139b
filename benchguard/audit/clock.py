"""Counter ticks to nanoseconds, by the clock pairs that a process wrote."""

from __future__ import annotations

from bisect import bisect_right, insort

# A pair that makes the counter run at a rate no processor has is not believed.
_SLOWEST_HZ = 1e6
_FASTEST_HZ = 1e11


class Clock:
    """Piecewise linear between pairs; beyond the last, at the rate of the last two."""

    def __init__(self) -> None:
        self._pairs: list[tuple[int, int]] = []

    def add(self, ticks: int, nanoseconds: int) -> None:
        """One reading of both clocks. Pairs that contradict the ones before are left out."""
        position = bisect_right(self._pairs, (ticks, nanoseconds))
        for other in self._pairs[max(0, position - 1) : position + 1]:
            if not _plausible(other, (ticks, nanoseconds)):
                return
        insort(self._pairs, (ticks, nanoseconds))

    def nanoseconds(self, ticks: int) -> int:
        """CLOCK_MONOTONIC at that tick; 0 without any pair."""
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
