"""Times that contradict the host's clock, or that no measurement gives."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ..process import Process
from ..rules import Rule, Severity
from ..window import Window
from .check import Add, Check, micro

DRIFT = 0.01
"""The device's clock and the host's may differ by this share."""

SLACK_NS = 100_000
"""An event's own resolution is about half a microsecond (CUDA driver API, cuEventElapsedTime)."""

LATENCY_NS = 5_000_000
"""A busy machine wakes a thread this late."""

SAME_TIMES = 20
WINDOWS_MIN = 3

IMPOSSIBLE = Rule(
    "impossible-time",
    Severity.error,
    "the driver's time is negative or not a number",
    "The elapsed time is negative or not a number. The end event happened before the start event, or the "
    "value is not the driver's.",
    "Check the order of the two arguments, and the streams of the two events.",
)
OVER_HOST = Rule(
    "time-over-host",
    Severity.error,
    "the driver's time is longer than the host's whole window",
    "The start event cannot happen before its record was called, and the end event had happened when the "
    "driver gave the time. The elapsed time is longer than this span of the host's clock, so one of the "
    "two stamps, or the driver's code, was altered.",
    "None known. A clock of the host that stops (a suspended machine) would do it.",
)
UNDER_HOST = Rule(
    "time-under-host",
    Severity.error,
    "the driver's time is shorter than the host knows it was",
    "The host had waited for the start event, went on, and recorded the end event later. The elapsed time "
    "is shorter than the time between, so one of the two stamps, or the driver's code, was altered.",
    "None known.",
)
HIDDEN_TIME = Rule(
    "host-time-over-event-time",
    Severity.warning,
    "the host waited much longer than the events say",
    "The device was idle when the start event was recorded, and the host waited for it behind the end "
    "event. In most windows that took more than twice the elapsed time, and more than 5 ms beyond it. The "
    "device, or the timed call itself, did something that the events do not count.",
    "A busy machine, or much host work in the timed call, does this.",
)
SAME = Rule(
    "same-time",
    Severity.warning,
    "many windows with work have exactly the same time",
    "Twenty windows with work, one after the other, have the same elapsed time to the last bit. Measured "
    "times differ; a patched driver function returns a constant.",
    "Kernels of less than two microseconds can do this, because event times have a resolution.",
)


@dataclass(slots=True)
class _Idle:
    """Windows that began on an idle device and that the host waited for."""

    windows: int = 0
    hidden: int = 0
    evidence: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)


class Times(Check):
    rules = (IMPOSSIBLE, OVER_HOST, UNDER_HOST, HIDDEN_TIME, SAME)

    def __init__(self, add: Add) -> None:
        super().__init__(add)
        self._idle = _Idle()
        self._last = math.nan
        self._same = 0

    def window(self, window: Window) -> None:
        time = window.time_ns
        if time is None:
            return
        if math.isnan(time) or time < 0:
            self.add(IMPOSSIBLE, micro(time), window.lines)
            return
        self._compare_with_host(window, time)
        self._same = self._same + 1 if time == self._last and not window.is_empty else 1
        self._last = time
        if self._same == SAME_TIMES:
            self.add(SAME, f"{SAME_TIMES} windows of {micro(time)}", window.lines)

    def _compare_with_host(self, window: Window, time: float) -> None:
        start, end = window.start, window.end
        longest = window.asked.ended - start.moment.began
        if time > longest * (1 + DRIFT) + SLACK_NS:
            self.add(OVER_HOST, f"{micro(time)}, and {micro(longest)} on the host", window.lines)
        if start.done_at is not None:
            shortest = end.moment.began - start.done_at
            if time < shortest * (1 - DRIFT) - SLACK_NS:
                self.add(
                    UNDER_HOST, f"{micro(time)}, and at least {micro(shortest)} on the host", window.lines
                )
        if start.is_idle and end.done_at is not None:
            host = end.moment.ended - start.moment.began + end.waited_ns
            self._idle.windows += 1
            if host - time > max(LATENCY_NS, time):
                self._idle.hidden += 1
                if len(self._idle.evidence) < 10:
                    text = f"{micro(time)} by the events, {micro(host)} until the host had waited"
                    self._idle.evidence.append((text, window.lines))

    def finish(self, process: Process) -> None:  # noqa: ARG002
        idle = self._idle
        if idle.hidden >= WINDOWS_MIN and 2 * idle.hidden > idle.windows:
            for index, (text, lines) in enumerate(idle.evidence):
                self.add(HIDDEN_TIME, text, lines, idle.hidden - len(idle.evidence) + 1 if index == 0 else 1)
