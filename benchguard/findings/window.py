"""A timing window: what ran between the last records of two events whose elapsed time a program asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from .streams import Last, Point

LAUNCHES_KEPT = 64
"""Different launches that are kept for a span between two event records."""

UNJOINED_KEPT = 4
"""Launches and copies that a record of an event keeps: a program may have 1024 streams and 131,072 events."""

DISABLE_TIMING = 2

ALL_STREAMS = 0
"""In place of a stream: an event that waits for all of them."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A logged call. Times are nanoseconds since the session began: entry and return."""

    line: int
    began: int
    ended: int
    thread: int


@dataclass(slots=True)
class Counts:
    """Work of a process. Hashes are sums, so the difference of two of them is that of what lies between."""

    kernels: int = 0
    own_kernels: int = 0
    """By the thread that recorded the event."""
    graphs: int = 0
    copies: int = 0
    sets: int = 0
    reads: int = 0
    """Copies to the host."""
    host_functions: int = 0
    gates: int = 0
    """Waits of a stream for a value in memory, and writes of such values."""
    loads: int = 0
    launch_hash: int = 0
    parameter_hash: int = 0

    def copy(self, own_kernels: int) -> Counts:
        values = [getattr(self, name) for name in _NAMES]
        values[1] = own_kernels
        return Counts(*values)

    def since(self, earlier: Counts) -> Counts:
        return Counts(*(getattr(self, name) - getattr(earlier, name) for name in _NAMES))

    @property
    def launches(self) -> int:
        return self.kernels + self.graphs

    @property
    def work(self) -> int:
        return self.launches + self.copies + self.sets


_NAMES = tuple(each.name for each in fields(Counts))


@dataclass(slots=True)
class Mark:
    """One record of an event.

    Attributes:
        point: The work that the event waits for.
        unjoined_kernels: The last kernels of streams that the event does not wait for: the newest UNJOINED_KEPT.
        unjoined_copies: The same for copies and memsets.
        is_idle: The host had waited for all work when it recorded the event.
        launches: The different launches since the previous record of an event by this thread.
        since: The number of that record.
        too_early: First kernel on a stream that does not wait for this record: number and line.
        done_at: When the host first waited for this record and returned; None if it did not.
        waited_ns: How long the host waited then.
        late_kernels: Launches of other threads between this record and the thread's next record or elapsed-time call.
        is_awaited: A stream or the host waited for the event itself.
    """

    moment: Moment
    number: int
    stream: int
    point: Point
    counts: Counts
    is_idle: bool
    unjoined_kernels: Sequence[Last]
    unjoined_copies: Sequence[Last]
    launches: frozenset[int]
    since: int
    too_early: tuple[int, int] | None = None
    done_at: int | None = None
    waited_ns: int = 0
    late_kernels: int | None = None
    late_line: int = 0
    is_awaited: bool = False


@dataclass(slots=True)
class Event:
    """`earlier` is the record before the last one, if no elapsed time was asked for in between. `is_used`: one was
    asked for since the last record."""

    has_timing: bool = True
    mark: Mark | None = None
    earlier: Mark | None = None
    is_used: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """A timing window.

    Attributes:
        number: From 1, by elapsed-time calls of the process.
        asked: The elapsed-time call; for a sample of inline timing, what the process did behind it.
        time_ns: The driver's elapsed time; NaN if it was not a number; None for a sample of inline timing, whose time
            is not in the log.
        start: The start event's last record.
        end: The end event's last record.
        counts: Work between the two.
        launches: The different launches in the window; None if other records lie in it.
        between: Work between the end of this thread's previous window and the start; None if unknown.
        start_again: The start event's record before, if no time was asked for since, and work lies in between.
        is_restarted: The end event was recorded between these two.
        end_again: The end event's record before, if it lies in the window.
        is_ordered: The end event waits for the start event, or the host did.
    """

    number: int
    asked: Moment
    time_ns: float | None
    start: Mark
    end: Mark
    counts: Counts
    between: int | None
    start_again: Mark | None
    is_restarted: bool
    end_again: Mark | None
    is_ordered: bool
    launches: frozenset[int] | None

    @property
    def lines(self) -> tuple[int, int, int]:
        return self.start.moment.line, self.end.moment.line, self.asked.line

    @property
    def thread(self) -> int:
        return self.start.moment.thread

    @property
    def is_empty(self) -> bool:
        return self.counts.work == 0
