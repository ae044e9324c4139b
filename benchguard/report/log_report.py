"""Read an audit log once, in bounded memory, into the facts that a report shows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from ..audit.entries import (
    CallEntry,
    EndEntry,
    Entry,
    GraphEntry,
    GraphLaunchEntry,
    ImageEntry,
    InFlightEntry,
    KernelEntry,
    LaunchEntry,
    LostEntry,
    NoteEntry,
    ProcessEntry,
    SessionEntry,
    UnmappedEntry,
)
from ..audit.typed_log import LogEntries, end_time
from .memory import Memory
from .tables import OTHERS, Tables
from .timeline import Lane, Timeline

LAUNCH_BOXES = 20_000
CALL_BOXES = 10_000
POINTS = 4_000
NAMES_MAX = 20_000
TEXTS_MAX = 200
"""Processes, notes and calls in flight that a report lists. It counts all of them."""


@dataclass
class Texts:
    """The first TEXTS_MAX texts of a kind, and the number of all."""

    shown: list[str] = field(default_factory=list)
    count: int = 0

    def add(self, text: str) -> None:
        self.count += 1
        if len(self.shown) < TEXTS_MAX:
            self.shown.append(text)


@dataclass
class LogReport:
    """The facts of a log. `problem` says why reading ended before the end line; it is empty if it did not."""

    path: Path
    session: SessionEntry | None = None
    end: EndEntry | None = None
    problem: str = ""
    lines: int = 0
    head: str = ""
    unknown_lines: int = 0
    names: list[str] = field(default_factory=list)
    launches: Timeline = field(default_factory=lambda: Timeline(LAUNCH_BOXES))
    calls: Timeline = field(default_factory=lambda: Timeline(CALL_BOXES))
    memory: Memory = field(default_factory=lambda: Memory(POINTS))
    tables: Tables = field(default_factory=Tables)
    processes: dict[int, ProcessEntry] = field(default_factory=dict)
    notes: Texts = field(default_factory=Texts)
    in_flight: Texts = field(default_factory=Texts)
    unmapped: Texts = field(default_factory=Texts)
    lost: Counter[tuple[int, int]] = field(default_factory=Counter)
    corrupt: Texts = field(default_factory=Texts)
    _numbers: dict[str, int] = field(default_factory=dict)

    def add(self, line: Entry) -> None:
        match line:
            case LaunchEntry():
                self.tables.launch(line)
                name = line.demangled or line.name or "(unknown)"
                self._launch(line, f"{name} (captured into a graph)" if line.captured else name)
                self.tables.call(line.call, "launch", line.duration_ns, line.result)
            case GraphLaunchEntry():
                self.tables.graph_launch(line)
                self._launch(line, f"graph {line.graph}")
                self.tables.call(line.call, "launch", line.duration_ns, line.result)
            case CallEntry():
                self.tables.call(line.call, line.group or "", line.duration_ns, line.result)
                self.memory.add(line)
                lane = Lane(line.process, line.thread, None)
                number, failed = self._number(line.call), line.result != 0
                self.calls.add(lane, Lane(0, 0, None), line.time_ns, line.duration_ns, number, failed)
            case KernelEntry():
                self.tables.kernel(line)
            case GraphEntry():
                self.tables.graph(line)
            case ImageEntry():
                self.tables.image(line)
            case _:
                self._rare(line)

    def _rare(self, line: Entry) -> None:
        match line:
            case ProcessEntry():
                if len(self.processes) < TEXTS_MAX:
                    self.processes[line.process] = line
            case NoteEntry():
                self.notes.add(line.text)
            case InFlightEntry():
                self.in_flight.add(f"{line.call} of process {line.process}, thread {line.thread}")
            case UnmappedEntry():
                self.unmapped.add(line.name)
            case LostEntry():
                self._lost(line)
            case SessionEntry():
                self.session = line
            case EndEntry():
                self.end = line

    def _launch(self, line: LaunchEntry | GraphLaunchEntry, name: str) -> None:
        lane, rest = Lane(line.process, line.thread, line.stream), Lane(0, 0, 0)
        number, failed = self._number(name), line.result != 0
        self.launches.add(lane, rest, line.time_ns, line.duration_ns, number, failed)

    def _lost(self, line: LostEntry) -> None:
        if len(self.lost) < TEXTS_MAX:
            self.lost[line.process, line.thread] += line.records
        if line.corrupt is not None:
            self.corrupt.add(f"process {line.process}, thread {line.thread}: {line.corrupt}")

    def _number(self, name: str) -> int:
        """The position of a name in `names`."""
        if name not in self._numbers and len(self.names) >= NAMES_MAX:
            name = OTHERS
        if name not in self._numbers:
            self._numbers[name] = len(self.names)
            self.names.append(name)
        return self._numbers[name]

    def lanes(self) -> list[Lane]:
        """All lanes of both timelines: processes and threads in the order of the log, streams before other calls."""
        every = dict.fromkeys([*self.launches.lanes, *self.calls.lanes])
        threads = {(lane.process, lane.thread): None for lane in every if lane.process}
        order = {thread: index for index, thread in enumerate(threads)}
        return sorted(
            every, key=lambda lane: (order.get((lane.process, lane.thread), len(order)), lane.stream is None)
        )


def read_log_report(path: Path) -> LogReport:
    """Read a log to its end, or to the place where it is cut short or altered.

    Raises LogError if the file is not an audit log.
    """
    report, source = LogReport(path), LogEntries(path)
    report.launches.end = report.calls.end = end_time(path)
    for line in source:
        report.add(line)
    report.tables.finish()
    report.launches.finish()
    report.calls.finish()
    report.problem, report.lines, report.head = source.problem, source.lines, source.head
    report.unknown_lines = source.unknown
    return report
