"""Events that are recorded again, that nobody asked for, or whose records are not in the log."""

from __future__ import annotations

from ..process import Process
from ..rules import Rule, Severity
from ..window import Mark, Window
from .check import Check, count

START_AGAIN = Rule(
    "start-recorded-again",
    Severity.error,
    "the start event is recorded again behind work",
    "The start event was recorded, work followed, and the event was recorded again before the end event "
    "was. The time begins at the second record, so it leaves that work out.",
    "Use an event for one place of the loop.",
)
END_AGAIN = Rule(
    "end-recorded-again",
    Severity.warning,
    "the end event is recorded twice in one window",
    "The end event was recorded twice behind the start event. The time ends at the second record.",
    "A program that measures laps asks for each time before it records the event again.",
)
RESTARTED = Rule(
    "window-restarted",
    Severity.warning,
    "both events are recorded again before the program has read their elapsed time",
    "The two events had been recorded before and after other work. The program recorded them again without "
    "reading the elapsed time of that work. A submission that records the grader's events itself hides its work "
    "this way.",
    "A warm-up that records the events too looks the same; leave the events out of it.",
)
UNSEEN = Rule(
    "unseen-record",
    Severity.warning,
    "a time is asked for events whose records are not in the log",
    "The driver gave an elapsed time, but the log has no record of one of the two events. It was recorded "
    "on a path that the shim does not see, or by a graph.",
    "Graphs with event nodes do this. The window cannot be examined.",
)
UNASKED = Rule(
    "time-not-asked",
    Severity.warning,
    "events are recorded around work, and the program does not ask the driver for their time",
    "Events with timing were recorded around work, and neither a stream nor the host waited for them nor "
    "asked for their elapsed time. If the program printed times, they do not come from these events: a "
    "replaced `elapsed_time` looks like this.",
    "Create events that only order work with CU_EVENT_DISABLE_TIMING. A program that stops before it "
    "reads its times does this too.",
)
UNEXAMINED = Rule(
    "unexamined-events",
    Severity.warning,
    "more events than the analysis keeps",
    "The program kept more events than the analysis follows at a time (131,072). The oldest are "
    "forgotten, so some windows are not examined.",
    "Destroy events when their times are read.",
)


class EventUse(Check):
    rules = (START_AGAIN, END_AGAIN, RESTARTED, UNSEEN, UNASKED, UNEXAMINED)

    def window(self, window: Window) -> None:
        if window.start_again is not None:
            rule = RESTARTED if window.is_restarted else START_AGAIN
            earlier: Mark = window.start_again
            text = f"recorded in lines {earlier.moment.line} and {window.start.moment.line}"
            self.add(rule, text, (earlier.moment.line, *window.lines))
        if window.end_again is not None:
            line = window.end_again.moment.line
            text = f"recorded in lines {line} and {window.end.moment.line}"
            self.add(END_AGAIN, text, (line, *window.lines))

    def finish(self, process: Process) -> None:
        if process.unknown_count:
            first = process.unknown_events[0]
            text = count(process.unknown_count, "elapsed-time call")
            self.add(UNSEEN, text, (first.line,), process.unknown_count)
        if process.unasked_count and (not process.asked or process.unasked_count > max(2, process.asked)):
            lines = tuple(mark.moment.line for mark in process.unasked[:10])
            text = f"{count(process.unasked_count, 'record')}, {count(process.asked, 'elapsed-time call')}"
            self.add(UNASKED, text, lines, process.unasked_count)
        if process.forgotten_events:
            self.add(UNEXAMINED, count(process.forgotten_events, "event"), (), process.forgotten_events)
