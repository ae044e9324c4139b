"""Put log lines of different threads in the order of time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..audit.order import InOrder
from .fields import Line

HELD_NS = 200_000_000
"""Lines wait this long for earlier ones: a log merges threads by time within a few milliseconds."""

THREADS_MAX = 1 << 16


def in_order(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines that have a time, by time; lines of one thread stay in order. Holds a bounded number of lines."""
    held: InOrder[Line] = InOrder()
    last: dict[tuple[int, int], int] = {}
    for line in lines:
        if "time_ns" not in line.values or "thread" not in line.values:
            continue
        thread = line.integer("process"), line.integer("thread")
        time = max(line.time("time_ns"), last.get(thread, -HELD_NS))
        if len(last) >= THREADS_MAX:
            last.clear()
        last[thread] = time
        yield from held.push(time, line)
        yield from held.until(time - HELD_NS)
    yield from held.rest()
