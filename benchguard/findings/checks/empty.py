"""Windows in which no kernel was launched."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..process import Process
from ..rules import Rule, Severity
from ..window import Window
from .check import Add, Check, count

EMPTY = Rule(
    "empty-window",
    Severity.error,
    "no work between the events, where the program has work to time",
    "The window has no launch, copy or memset: the time is that of the events alone. The windows of the "
    "same loop have work, or the loop has prepared each of them, or the program launches its kernels "
    "outside all windows. A result that was computed before, in the warm-up or in an earlier window, "
    "looks like this; so do outputs that compute when they are looked at, and work that the shim cannot "
    "see.",
    "A measurement of the events' own overhead is recognised (`event-overhead`) if its windows follow one "
    "another without work, and the program's other windows do not.",
)
EMPTY_FIRST = Rule(
    "empty-windows-first",
    Severity.warning,
    "the first windows have no work",
    "The first windows of a thread have no work, and the windows behind them have. A program measures the "
    "overhead of events this way; a submission that skips its first calls looks the same.",
    "Leave such windows out of the statistics, or do other work between the windows that count (a cache "
    "flush): then the log tells the two apart.",
)
OVERHEAD = Rule(
    "event-overhead",
    Severity.info,
    "windows without work that measure the events' overhead",
    "Windows without work follow one another, with no work between them either, and the other windows of "
    "the program have work between them. So the program measured the overhead of a pair of events.",
    "Expected of programs that measure this overhead (pygpubench does).",
)
COPIES_ONLY = Rule(
    "copies-only",
    Severity.warning,
    "copies or memsets in the window, and no kernel",
    "The window has copies or memsets only, while the program launches kernels elsewhere. A submission "
    "that copies an answer which it computed before looks like this.",
    "A benchmark of copies does this. If the submission may answer with a copy, ignore the finding.",
)


@dataclass(slots=True)
class _Run:
    """Consecutive windows without work. `is_bare`: there was no work between them either."""

    first: Window | None = None
    windows: int = 0
    is_bare: bool = True
    lines: list[tuple[int, ...]] = field(default_factory=list)


@dataclass(slots=True)
class _Thread:
    worked: int = 0
    prepared: int = 0
    """Windows with work that have work before them too, behind the previous window."""
    run: _Run = field(default_factory=_Run)


class EmptyWindows(Check):
    rules = (EMPTY, EMPTY_FIRST, OVERHEAD, COPIES_ONLY)

    def __init__(self, add: Add) -> None:
        super().__init__(add)
        self._threads: dict[int, _Thread] = {}
        self._copies: list[tuple[int, ...]] = []
        self._copy_windows = 0

    def window(self, window: Window) -> None:
        thread = self._threads.setdefault(window.thread, _Thread())
        if window.is_empty:
            run = thread.run
            if run.windows:
                run.is_bare = run.is_bare and window.between == 0
            else:
                run.first = window
            run.windows += 1
            if len(run.lines) < 10:
                run.lines.append(window.lines)
            return
        if window.counts.launches == 0:
            self._copy_windows += 1
            if len(self._copies) < 10:
                self._copies.append(window.lines)
        if thread.run.windows:
            self._judge(thread, is_before=thread.worked == 0, is_prepared=bool(window.between))
            thread.run = _Run()
        thread.worked += 1
        thread.prepared += bool(window.between)

    def finish(self, process: Process) -> None:
        if self._copy_windows and process.counts.launches:
            for index, lines in enumerate(self._copies):
                number = self._copy_windows - len(self._copies) + 1 if index == 0 else 1
                self.add(COPIES_ONLY, "copies or memsets only", lines, number)
        for thread in self._threads.values():
            if not thread.run.windows:
                continue
            if thread.worked or not process.counts.work:
                is_prepared = thread.prepared > thread.worked // 2 or not thread.worked
                self._judge(thread, is_before=False, is_prepared=is_prepared)
            else:
                windows, launches = count(thread.run.windows, "window"), process.counts.launches
                copies = process.counts.work - launches
                launched, copied = count(launches, "launch", "launches"), count(copies, "other operation")
                text = f"none of the {windows} has work, and the process has {launched} and {copied}"
                self._tell(EMPTY, text, thread.run)

    def _judge(self, thread: _Thread, *, is_before: bool, is_prepared: bool) -> None:
        run = thread.run
        if run.is_bare and run.windows > 1 and is_prepared:
            self._tell(OVERHEAD, f"{run.windows} windows without work, one after the other", run)
        elif run.is_bare and is_before:
            self._tell(EMPTY_FIRST, f"the first {count(run.windows, 'window')} of a thread", run)
        else:
            other = count(thread.worked, "window")
            self._tell(EMPTY, f"{count(run.windows, 'window')} without work, behind {other} with work", run)

    def _tell(self, rule: Rule, text: str, run: _Run) -> None:
        self.add(rule, text, run.lines[0], run.windows)
        for lines in run.lines[1:]:
            self.add(rule, "no work between the events", lines, 0)
