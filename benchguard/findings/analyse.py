"""From an audit log to its findings, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ..audit.log import checked_lines
from ..audit.sample_marks import sample_mark
from .calls import base_name, follow
from .checks import CHECKS
from .checks.log import check_end
from .errors import FindingsError
from .fields import Line
from .order import Ordered
from .process import Process
from .report import FindingsReport, Found
from .window import Moment, Window

PROCESSES_MAX = 4096


class _Observed:
    """A process and its checks."""

    def __init__(self, number: int, found: Found) -> None:
        self.process = Process(number)

        def add(rule: Any, message: str, lines: Any, count: int = 1) -> None:
            found.add(rule, number, message, lines, count)

        self.checks = [check(add) for check in CHECKS]

    def finish(self) -> None:
        self.process.finish()
        for check in self.checks:
            check.finish(self.process)


class Analysis:
    """Examines the lines of a log as they are read."""

    def __init__(self) -> None:
        self._found = Found()
        self._windows = self._lines = 0
        self._command: list[str] = []
        self._is_complete = False
        self._ordered = Ordered()
        self._observed: dict[int, _Observed] = {}
        self._processes = 0
        self._error: FindingsError | None = None

    def through(self, lines: Iterable[tuple[dict[str, Any], str]]) -> Iterator[tuple[dict[str, Any], str]]:
        """Examine lines, each with its hash, and pass them on. A line that cannot be examined ends the examination."""
        for pair in lines:
            if self._error is None:
                self._try(self._take, pair[0])
            yield pair
        if self._error is None:
            self._try(self._take_rest)

    def report(self) -> FindingsReport:
        """The findings of all lines. Raises FindingsError."""
        if self._error is not None:
            raise self._error
        findings = self._found.findings()
        return FindingsReport(findings, self._windows, self._lines, self._is_complete, self._command)

    def _try(self, step: Callable[..., None], *arguments: Any) -> None:
        try:
            step(*arguments)
        except FindingsError as error:
            self._error = error
            self._observed.clear()

    def _take(self, values: dict[str, Any]) -> None:
        self._lines += 1
        line = Line(self._lines, values)
        kind = line.text("kind")
        if kind == "session":
            self._session(line)
        elif kind == "end":
            self._is_complete = check_end(self._found, line)
        else:
            for each in self._ordered.push(line):
                self._add(each)

    def _take_rest(self) -> None:
        for line in self._ordered.rest():
            self._add(line)
        for number in list(self._observed):
            self._finish_one(number)

    def _session(self, line: Line) -> None:
        if line.text_or_none("api") not in (None, "cuda"):
            raise FindingsError("the log is of a HIP program; findings reads logs of CUDA programs")
        if line.values.get("only_calls"):
            raise FindingsError("the log has some calls only; run the program again without --calls")
        self._command = list(line.texts("command"))

    def _add(self, line: Line) -> None:
        kind = line.text("kind")
        if kind == "process":
            self._finish_one(line.integer("process"))
        elif kind == "launch":
            self._launch(line)
        elif kind == "graph_launch":
            self._graph_launch(line)
        elif kind == "call":
            self._call(line)
        elif kind == "phase":
            self._phase(line)

    def _of(self, line: Line) -> _Observed:
        number = line.integer("process")
        observed = self._observed.get(number)
        if observed is None:
            self._processes += 1
            if self._processes > PROCESSES_MAX:
                raise FindingsError(
                    f"the log has more than {PROCESSES_MAX} processes; findings follows no more"
                )
            observed = self._observed[number] = _Observed(number, self._found)
        return observed

    def _launch(self, line: Line) -> None:
        if line.integer("result") != 0 or line.flag("captured"):
            return
        at, process = _moment(line), self._of(line).process
        _, per_thread = base_name(line.text("call"))
        identity = hash(
            (
                line.text_or_none("name"),
                line.text_or_none("image"),
                line.extents("grid"),
                line.extents("block"),
            )
        )
        parameters = hash((identity, line.texts("parameters")))
        process.kernel(
            at, process.stream_key(line.integer("stream"), per_thread, at.thread), identity, parameters
        )

    def _graph_launch(self, line: Line) -> None:
        if line.integer("result") != 0:
            return
        at, process = _moment(line), self._of(line).process
        _, per_thread = base_name(line.text("call"))
        kernels = None if line.values.get("kernels") is None else line.integer("kernels")
        stream = process.stream_key(line.integer("stream"), per_thread, at.thread)
        process.graph(at, stream, hash(("graph", line.integer("graph"))), kernels)

    def _call(self, line: Line) -> None:
        at, observed = _moment(line), self._of(line)
        if base_name(line.text("call"))[0] != "cuEventElapsedTime":
            follow(observed.process, at, line)
        elif line.integer("result") == 0:
            start, end = line.argument("hStart"), line.argument("hEnd")
            window = observed.process.elapsed(at, start, end, 1e6 * line.float_argument("pMilliseconds"))
            self._check(observed, window)

    def _phase(self, line: Line) -> None:
        """Follow the loop of inline timing, whose marks are in place of its events."""
        observed, began = self._of(line), line.time("time_ns")
        at = Moment(line.number, began, began, line.integer("thread"))
        mark = sample_mark(line.text("label"), line.text("origin"))
        if mark is None or not mark.is_end:
            self._check(observed, observed.process.sample(at))
        if mark is not None and mark.is_end:
            observed.process.end_sample(at, mark.joins_all)
        elif mark is not None:
            observed.process.begin_sample(at)

    def _check(self, observed: _Observed, window: Window | None) -> None:
        if window is not None:
            self._windows += 1
            for check in observed.checks:
                check.window(window)

    def _finish_one(self, number: int) -> None:
        observed = self._observed.pop(number, None)
        if observed is not None:
            observed.finish()


def _moment(line: Line) -> Moment:
    began = line.time("time_ns")
    return Moment(line.number, began, began + line.time("duration_ns"), line.integer("thread"))


def analyse_log(path: Path | str) -> FindingsReport:
    """Find out whether the timing windows of a program hold the work that they seem to.

    Args:
        path: An audit log of a CUDA program.

    Returns:
        The findings, the worst first.

    Raises:
        LogError: The log's hash chain is broken.
        FindingsError: A line has a field that no run writes, or the log has too many processes or streams.
    """
    analysis = Analysis()
    for _ in analysis.through(checked_lines(Path(path))):
        pass
    return analysis.report()
