"""From an audit log to its findings, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..audit.log import checked_lines
from .calls import base_name, follow, stream_key
from .checks import CHECKS
from .checks.log import check_end
from .errors import FindingsError
from .fields import Line
from .order import in_order
from .process import Process
from .report import FindingsReport, Found
from .window import Moment

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


class _Analysis:
    def __init__(self) -> None:
        self.found = Found()
        self.windows = self.lines = 0
        self.command: list[str] = []
        self.is_complete = False
        self._observed: dict[int, _Observed] = {}
        self._processes = 0

    def watched(self, lines: Iterable[tuple[dict[str, Any], str]]) -> Iterator[Line]:
        """Number the lines, and use those of the whole run."""
        for number, (values, _) in enumerate(lines, 1):
            self.lines = number
            line = Line(number, values)
            kind = line.text("kind")
            if kind == "session":
                self._session(line)
            elif kind == "end":
                self.is_complete = check_end(self.found, line)
            else:
                yield line

    def _session(self, line: Line) -> None:
        if line.text_or_none("api") not in (None, "cuda"):
            raise FindingsError("the log is of a HIP program; findings reads logs of CUDA programs")
        self.command = list(line.texts("command"))

    def add(self, line: Line) -> None:
        kind = line.text("kind")
        if kind == "process":
            self._finish_one(line.integer("process"))
        elif kind == "launch":
            self._launch(line)
        elif kind == "graph_launch":
            self._graph_launch(line)
        elif kind == "call":
            self._call(line)

    def _of(self, line: Line) -> _Observed:
        number = line.integer("process")
        observed = self._observed.get(number)
        if observed is None:
            self._processes += 1
            if self._processes > PROCESSES_MAX:
                raise FindingsError(
                    f"the log has more than {PROCESSES_MAX} processes; findings follows no more"
                )
            observed = self._observed[number] = _Observed(number, self.found)
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
        process.kernel(at, stream_key(line.integer("stream"), per_thread, at.thread), identity, parameters)

    def _graph_launch(self, line: Line) -> None:
        if line.integer("result") != 0:
            return
        at, process = _moment(line), self._of(line).process
        _, per_thread = base_name(line.text("call"))
        kernels = None if line.values.get("kernels") is None else line.integer("kernels")
        stream = stream_key(line.integer("stream"), per_thread, at.thread)
        process.graph(at, stream, hash(("graph", line.integer("graph"))), kernels)

    def _call(self, line: Line) -> None:
        at, observed = _moment(line), self._of(line)
        if base_name(line.text("call"))[0] != "cuEventElapsedTime":
            follow(observed.process, at, line)
        elif line.integer("result") == 0:
            start, end = line.argument("hStart"), line.argument("hEnd")
            window = observed.process.elapsed(at, start, end, 1e6 * line.float_argument("pMilliseconds"))
            if window is not None:
                self.windows += 1
                for check in observed.checks:
                    check.window(window)

    def _finish_one(self, number: int) -> None:
        observed = self._observed.pop(number, None)
        if observed is not None:
            observed.finish()

    def report(self) -> FindingsReport:
        for number in list(self._observed):
            self._finish_one(number)
        return FindingsReport(self.found.findings(), self.windows, self.lines, self.is_complete, self.command)


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
    analysis = _Analysis()
    for line in in_order(analysis.watched(checked_lines(Path(path)))):
        analysis.add(line)
    return analysis.report()
