"""Put the events of several threads in the order in which they took effect."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")

HELD_NS = 200_000_000
"""Lines wait this long for earlier ones: a log merges threads by time within a few milliseconds."""

WINDOW = 1 << 15
"""Events that are held back. A log merges threads by time within one pass of its writer, which is shorter."""


class InOrder(Generic[T]):
    """Holds events back until so many later ones came that no earlier one can follow."""

    def __init__(self, window: int = WINDOW) -> None:
        self._window = window
        self._heap: list[tuple[int, int, T]] = []
        self._count = 0

    def push(self, time_ns: int, event: T) -> Iterator[T]:
        """Add an event; give those that are old enough. Events of one time keep their order."""
        heapq.heappush(self._heap, (time_ns, self._count, event))
        self._count += 1
        while len(self._heap) > self._window:
            yield heapq.heappop(self._heap)[2]

    def until(self, time_ns: int) -> Iterator[T]:
        """Give the events up to a time."""
        while self._heap and self._heap[0][0] <= time_ns:
            yield heapq.heappop(self._heap)[2]

    def rest(self) -> Iterator[T]:
        """Give all that is left."""
        while self._heap:
            yield heapq.heappop(self._heap)[2]
