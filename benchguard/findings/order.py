"""Put log lines of different threads in the order of time."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator

from .fields import Line

HELD_NS = 200_000_000
"""Lines wait this long for earlier ones: a log merges threads by time within a few milliseconds."""

HELD_MAX = 1 << 16
THREADS_MAX = 1 << 16


def in_order(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines that have a time, by time; lines of one thread stay in order. Holds at most HELD_MAX lines."""
    held: list[tuple[int, int, Line]] = []
    last: dict[tuple[int, int], int] = {}
    newest = -(1 << 63)
    for line in lines:
        if "time_ns" not in line.values or "thread" not in line.values:
            continue
        thread = line.integer("process"), line.integer("thread")
        time = max(line.time("time_ns"), last.get(thread, -(1 << 63)))
        if len(last) >= THREADS_MAX:
            last.clear()
        last[thread] = time
        newest = max(newest, time)
        heapq.heappush(held, (time, line.number, line))
        while held and (held[0][0] < newest - HELD_NS or len(held) > HELD_MAX):
            yield heapq.heappop(held)[2]
    while held:
        yield heapq.heappop(held)[2]
