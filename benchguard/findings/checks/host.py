"""Work of the host inside a window, and work that other threads launch."""

from __future__ import annotations

from ..rules import Rule, Severity
from ..window import Window
from .check import Add, Check, count

HOST_FUNCTION = Rule(
    "host-callback",
    Severity.warning,
    "a host function runs in a stream during the window",
    "The window has a `cuLaunchHostFunc` or a `cuStreamAddCallback`. Host code can compute the result, or "
    "start work that ends behind the end event.",
    "Libraries for communication use host functions. Replay a capture without them to time the device's "
    "work alone.",
)
GATE = Rule(
    "stream-gate",
    Severity.warning,
    "a stream waits for a value in memory, or writes one, during the window",
    "The window has a `cuStreamWaitValue`, `cuStreamWriteValue` or `cuStreamBatchMemOp`. Work behind such "
    "a wait starts when a host thread or another device wants it to, which may be after the end event.",
    "Libraries that use several devices do this.",
)
LOAD = Rule(
    "module-load",
    Severity.warning,
    "code is loaded during the window",
    "A module, a library or linked code is loaded inside the window. Loading compiles PTX and can wait "
    "for the device, so the time is not that of the kernels alone. It also shows that this call does "
    "something else than the calls before.",
    "Warm up with the same shapes and types before the first window.",
)
FIRST_LOAD = Rule(
    "first-module-load",
    Severity.info,
    "code is loaded during the first window",
    "A module, a library or linked code is loaded inside the first window of the process. CUDA loads a library's "
    "kernels when they are first launched, and a timing loop often launches kernels of its own in its first window: "
    "Triton's `do_bench` clears the cache there. The time of this window is not that of the kernels alone.",
    "Run the timing loop once before the first window that counts.",
)
READ = Rule(
    "copy-to-host",
    Severity.info,
    "the window copies from the device to the host",
    "The host reads device memory inside the window. It can compute there, or decide by the data what to "
    "launch.",
    "A `.item()` or a `.cpu()` in the timed call does this.",
)
OTHER_THREAD = Rule(
    "other-thread-launches",
    Severity.info,
    "another thread launches kernels during the window",
    "Kernels inside the window were launched by another thread than the one that recorded the start "
    "event. If the end event does not wait for them, there is an `unjoined-kernel` too.",
    "PyTorch runs backward passes on a thread of its own.",
)
LATE = Rule(
    "late-launch",
    Severity.warning,
    "another thread launches kernels right behind the window",
    "Another thread launched kernels behind the end event's record, before the recording thread did "
    "anything else with events. Work that a submission hands to a thread of its own runs behind the end "
    "event and before the check.",
    "A program that uses the GPU from several threads for several purposes does this; time it alone.",
)


class HostWork(Check):
    rules = (HOST_FUNCTION, GATE, LOAD, FIRST_LOAD, READ, OTHER_THREAD, LATE)

    def __init__(self, add: Add) -> None:
        super().__init__(add)
        self._load = FIRST_LOAD

    def window(self, window: Window) -> None:
        counts = window.counts
        for rule, number, what in (
            (HOST_FUNCTION, counts.host_functions, "host function"),
            (GATE, counts.gates, "operation"),
            (self._load, counts.loads, "load"),
            (READ, counts.reads, "copy"),
        ):
            if number > 0:
                many = "copies" if what == "copy" else ""
                self.add(rule, count(number, what, many), window.lines)
        self._load = LOAD
        start, end = window.start, window.end
        if start.moment.thread == end.moment.thread:
            others = counts.kernels - counts.own_kernels
            if others > 0:
                self.add(OTHER_THREAD, count(others, "launch", "launches"), window.lines)
        if end.late_kernels:
            lines = (*window.lines, end.late_line) if end.late_line else window.lines
            self.add(LATE, count(end.late_kernels, "launch", "launches"), lines)
