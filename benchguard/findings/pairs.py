"""From the last records of two events to their timing window."""

from __future__ import annotations

import math

from .window import ALL_STREAMS, Event, Mark, Moment, Window

LOOP_WORK = 1
"""Before each sample, the loop of inline timing gives inputs and clears caches, by calls that are not in the log."""


def window_of(
    number: int, asked: Moment, time_ns: float | None, first: Event, last: Event, previous: Mark | None
) -> Window | None:
    """The window between two events; None if one has no record. `previous` is the end of the thread's last window."""
    start, end = first.mark, last.mark
    if start is None or end is None:
        return None
    start_again, is_restarted = _moved_start(start, first, last)
    return Window(
        number=number,
        asked=asked,
        time_ns=time_ns if time_ns is None or math.isfinite(time_ns) else math.nan,
        start=start,
        end=end,
        counts=end.counts.since(start.counts),
        between=_between(previous, start) if time_ns is not None else LOOP_WORK,
        start_again=start_again,
        is_restarted=is_restarted,
        end_again=last.earlier if last.earlier is not None and last.earlier.number > start.number else None,
        is_ordered=_is_ordered(start, end),
        launches=end.launches if end.since == start.number else None,
    )


def _between(previous: Mark | None, start: Mark) -> int | None:
    if previous is None or previous.number > start.number:
        return None
    return start.counts.since(previous.counts).work


def _is_ordered(start: Mark, end: Mark) -> bool:
    is_known = start.done_at is not None and start.done_at <= end.moment.began
    return is_known or start.stream == ALL_STREAMS or end.point.covers(start.stream, start.number)


def _moved_start(start: Mark, first: Event, last: Event) -> tuple[Mark | None, bool]:
    """The start event's record before, if work follows it; and whether the end event was recorded in between."""
    earlier, end_before = first.earlier, last.earlier
    if earlier is None or start.counts.work == earlier.counts.work:
        return None, False
    return earlier, end_before is not None and earlier.number < end_before.number < start.number
