"""Work that the events of a window do not wait for, or that does not wait for them."""

from __future__ import annotations

from ..rules import Rule, Severity
from ..window import Window
from .check import Check

UNJOINED_KERNEL = Rule(
    "unjoined-kernel",
    Severity.error,
    "the end event does not wait for a kernel of the window",
    "A kernel was launched in the window on a stream that the end event does not wait for: no event, no "
    "host synchronisation and no rule of the legacy default stream puts it before the end event. The time "
    "leaves it out. Streams that are created with CU_STREAM_NON_BLOCKING do not wait for the legacy "
    "default stream, nor it for them.",
    "Let the events' stream wait for the other stream before the end event is recorded "
    "(`cuStreamWaitEvent`, `current_stream().wait_stream(side)`).",
)
UNJOINED_COPY = Rule(
    "unjoined-copy",
    Severity.warning,
    "the end event does not wait for a copy, a memset or a host function of the window",
    "As `unjoined-kernel`, for a copy, a memset or a host function.",
    "A prefetch of the next inputs on a side stream does this. It belongs outside the window.",
)
TOO_EARLY = Rule(
    "kernel-not-after-start",
    Severity.error,
    "a kernel of the window does not wait for the start event",
    "A kernel was launched behind the start event's record, on a stream that does not wait for it, while "
    "the start event's stream had work before it (a cache flush, say). The kernel can run beside that "
    "work, before the start event happens. A stream that joins before the end event and does not wait for "
    "the start hides its time this way.",
    "Let the other stream wait for the events' stream before it gets work.",
)
RUNNING = Rule(
    "earlier-work-running",
    Severity.warning,
    "the start event does not wait for an earlier kernel",
    "A kernel that was launched before the window was not waited for when the start event was recorded. "
    "It may run inside the window. If it is the work of the window before, that window's time left it "
    "out.",
    "Synchronise the device before each window.",
)
TWO_STREAMS = Rule(
    "events-on-two-streams",
    Severity.error,
    "start and end are on streams that do not wait for one another",
    "The two events were recorded on different streams, and the end event does not wait for the start "
    "event. The time between them is not that of the work. A submission that leaves another stream "
    "current causes it.",
    "Record both events on one stream.",
)


class StreamOrder(Check):
    rules = (UNJOINED_KERNEL, UNJOINED_COPY, TOO_EARLY, RUNNING, TWO_STREAMS)

    def window(self, window: Window) -> None:
        start, end = window.start, window.end
        for rule, unjoined in ((UNJOINED_KERNEL, end.unjoined_kernels), (UNJOINED_COPY, end.unjoined_copies)):
            inside = [last.line for last in unjoined if last.number > start.number]
            if inside:
                self.add(rule, f"launched in line {inside[0]}", (*window.lines, *inside[:4]))
        if start.too_early is not None and not start.is_idle:
            number, line = start.too_early
            if number <= end.number:
                self.add(TOO_EARLY, f"launched in line {line}", (*window.lines, line))
        if start.unjoined_kernels:
            earlier = [last.line for last in start.unjoined_kernels]
            self.add(RUNNING, f"launched in line {earlier[0]}", (*window.lines, *earlier[:4]))
        if not window.is_ordered:
            self.add(TWO_STREAMS, "recorded on two streams", window.lines)
