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


HELD_BYTES = 64 << 20
"""Size of the events that are held back. A compact log of a few KiB may have hundreds of MiB of lines."""


class InOrder(Generic[T]):
    """Holds events back until so many later ones came that no earlier one can follow."""

    def __init__(self, window: int = WINDOW) -> None:
        self._window = window
        self._heap: list[tuple[int, int, T, int]] = []
        self._count = 0
        self._bytes = 0

    def push(self, time_ns: int, event: T, size: int = 0) -> Iterator[T]:
        """Add an event; give those that are old enough. Events of one time keep their order.

        `size`: the bytes of an event without a limit of its own.
        """
        heapq.heappush(self._heap, (time_ns, self._count, event, size))
        self._count += 1
        self._bytes += size
        while len(self._heap) > self._window or self._bytes > HELD_BYTES:
            yield self._pop()

    def _pop(self) -> T:
        _, _, event, size = heapq.heappop(self._heap)
        self._bytes -= size
        return event

    def until(self, time_ns: int) -> Iterator[T]:
        """Give the events up to a time."""
        while self._heap and self._heap[0][0] <= time_ns:
            yield self._pop()

    def rest(self) -> Iterator[T]:
        """Give all that is left."""
        while self._heap:
            yield self._pop()
