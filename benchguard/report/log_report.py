"""Read an audit log once, in bounded memory, into the facts that a report shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..audit.entries import (
    CallEntry,
    EndEntry,
    GraphLaunchEntry,
    InFlightEntry,
    KernelEntry,
    LaunchEntry,
    Line,
    LostEntry,
    PhaseEntry,
    ProcessEntry,
    SessionEntry,
)
from ..audit.names import is_failure
from ..audit.rows import Summary
from ..audit.tally import Tally
from ..audit.typed_log import LogEntries, end_time
from ..units import duration_text
from .curves import Curves
from .timeline import Lane, Timeline

LAUNCH_BOXES = 20_000
CALL_BOXES = 10_000
POINTS = 4_000
NAMES_MAX = 20_000
CHARACTERS_MAX = 8 << 20
"""Limit of all names together. A forged log may have names of 4 MiB, and the page has each several times."""
OTHERS = "(other names)"
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
class Facts:
    """Facts of a log besides its summary.

    Attributes:
        names: names of launches and calls, by the numbers that the boxes of a timeline have.
        kernels: what the log says of each kernel's code, by name and image.
        phases: marks of a benchmark's phases.
        lost: dropped records by process and thread.
    """

    session: SessionEntry | None = None
    end: EndEntry | None = None
    names: list[str] = field(default_factory=list)
    launches: Timeline = field(default_factory=lambda: Timeline(LAUNCH_BOXES))
    calls: Timeline = field(default_factory=lambda: Timeline(CALL_BOXES))
    curves: Curves = field(default_factory=lambda: Curves(POINTS))
    kernels: dict[tuple[str, str | None], KernelEntry] = field(default_factory=dict)
    processes: dict[int, ProcessEntry] = field(default_factory=dict)
    in_flight: Texts = field(default_factory=Texts)
    phases: Texts = field(default_factory=Texts)
    lost: Counter[tuple[int, int]] = field(default_factory=Counter)
    corrupt: Texts = field(default_factory=Texts)
    _numbers: dict[str, int] = field(default_factory=dict)
    _characters: int = 0

    def add(self, line: Line) -> None:
        match line:
            case LaunchEntry():
                name = line.demangled or line.name or "(unknown)"
                self._launch(line, f"{name} (captured into a graph)" if line.captured else name)
            case GraphLaunchEntry():
                self._launch(line, f"graph {line.graph}")
            case CallEntry():
                self._call(line)
            case KernelEntry() if len(self.kernels) < NAMES_MAX and self._has_room(line.name, line.demangled):
                self.kernels[line.demangled or line.name, line.image] = line
            case ProcessEntry() if len(self.processes) < TEXTS_MAX and self._has_room(line.executable):
                self.processes[line.process] = line
            case InFlightEntry():
                self.in_flight.add(f"{line.call} of process {line.process}, thread {line.thread}")
            case PhaseEntry():
                label = f" {line.label}" if line.label else ""
                self.phases.add(
                    f"{duration_text(line.time_ns)}: {line.phase}{label} (process {line.process})"
                )
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

    def _call(self, line: CallEntry) -> None:
        count = line.count
        lane, number = Lane(line.process, line.thread, None), self._number(line.call)
        failed = is_failure(line.call, line.result)
        self.calls.add(lane, Lane(0, 0, None), line.time_ns, line.duration_ns, number, failed, count)

    def _lost(self, line: LostEntry) -> None:
        if len(self.lost) < TEXTS_MAX:
            self.lost[line.process, line.thread] += line.records
        if line.corrupt is not None:
            self.corrupt.add(f"process {line.process}, thread {line.thread}: {line.corrupt}")

    def _number(self, name: str) -> int:
        """The position of a name in `names`."""
        if name not in self._numbers and (len(self.names) >= NAMES_MAX or not self._has_room(name)):
            name = OTHERS
        if name not in self._numbers:
            self._numbers[name] = len(self.names)
            self.names.append(name)
        return self._numbers[name]

    def _has_room(self, *texts: str | None) -> bool:
        """Count the characters of texts, unless they are too many."""
        characters = self._characters + sum(map(len, filter(None, texts)))
        if characters > CHARACTERS_MAX:
            return False
        self._characters = characters
        return True

    def lanes(self) -> list[Lane]:
        """All lanes of both timelines: processes and threads in the order of the log, streams before other calls."""
        every = dict.fromkeys([*self.launches.lanes, *self.calls.lanes])
        threads = {(lane.process, lane.thread): None for lane in every if lane.process}
        order = {thread: index for index, thread in enumerate(threads)}
        return sorted(
            every, key=lambda lane: (order.get((lane.process, lane.thread), len(order)), lane.stream is None)
        )


@dataclass(frozen=True)
class LogReport:
    """A log as a report shows it. `problem` says why reading ended before the end line; it is empty if it did not."""

    path: Path
    summary: Summary
    facts: Facts
    problem: str
    unknown_lines: int


def read_log_report(
    path: Path, lines: Iterable[tuple[dict[str, Any], str]] | None = None, last_ns: int | None = None
) -> LogReport:
    """Read a log to its end, or to the place where it is cut short or altered.

    A caller that reads the `lines` itself gives `end_time` of the log, too.

    Raises LogError if the file is not an audit log.
    """
    facts, source = Facts(), LogEntries(path, lines)
    tally = Tally(facts.curves.watch)
    facts.launches.end = facts.calls.end = end_time(path) if lines is None else last_ns
    for line in source:
        tally.add_entry(line)
        if line is not None:
            facts.add(line)
    facts.launches.finish()
    facts.calls.finish()
    return LogReport(path, tally.summary(source.head), facts, source.problem, source.unknown)
