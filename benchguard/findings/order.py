"""Put log lines of different threads in the order of time."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ..audit.order import HELD_BYTES, HELD_NS, InOrder
from .fields import Line

THREADS_MAX = 1 << 16


class Ordered:
    """Gives lines by time; lines of one thread stay in order. Holds a bounded number of lines."""

    def __init__(self) -> None:
        self._held: InOrder[Line] = InOrder()
        self._last: dict[tuple[int, int], int] = {}

    def push(self, line: Line) -> Iterator[Line]:
        """Add a line; give those that are old enough. Lines without a time or a thread are left out."""
        if "time_ns" not in line.values or "thread" not in line.values:
            return
        thread = line.integer("process"), line.integer("thread")
        time = max(line.time("time_ns"), self._last.get(thread, -HELD_NS))
        if len(self._last) >= THREADS_MAX:
            self._last.clear()
        self._last[thread] = time
        yield from self._held.push(time, line, _size_of(line))
        yield from self._held.until(time - HELD_NS)

    def rest(self) -> Iterator[Line]:
        """Give all that is left."""
        yield from self._held.rest()


def _size_of(line: Line) -> int:
    """The bytes of a line, with those of its objects in Python: each element has some, and so has an empty list."""
    try:
        data = msgspec.json.encode(line.values)
    except (OverflowError, RecursionError):  # no run writes such a line
        return HELD_BYTES
    return len(data) + 64 * (data.count(b",") + data.count(b"[") + data.count(b"{"))
