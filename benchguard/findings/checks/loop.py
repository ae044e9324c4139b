"""Windows compared with their neighbours: fewer kernels, the same parameters, graph replays."""

from __future__ import annotations

from ..process import Process
from ..rules import Rule, Severity
from ..window import Window
from .check import Add, Check, count

FEWER = Rule(
    "fewer-kernels",
    Severity.warning,
    "a window has only some of the kernels of the windows round it",
    "The window before and the window behind have the same kernels, and this one has only some of them, "
    "or fewer launches. A result that was computed in another window needs fewer kernels.",
    "Work that depends on the data does this. If more than a third of the windows differ, there is no "
    "finding: two programs are then timed by turns.",
)
SAME_PARAMETERS = Rule(
    "same-parameters",
    Severity.info,
    "all windows launch the same kernels with the same parameters",
    "The kernels of consecutive windows had equal parameters, their pointers included. A submission that "
    "caches its result by pointer would not be noticed, unless the grader changes the memory and checks "
    "each result.",
    "Most graders do this. Grade with secret inputs that change: `neutrino-bench grade`.",
)
GRAPH = Rule(
    "graph-replay",
    Severity.info,
    "the window launches a graph",
    "The work of the window is a graph, which repeats fixed work on fixed addresses. The time leaves out "
    "what the host would do in each call.",
    "An honest way to save launch time. The log lists the graph's kernels.",
)


class Loop(Check):
    rules = (FEWER, SAME_PARAMETERS, GRAPH)

    def __init__(self, add: Add) -> None:
        super().__init__(add)
        self._last: list[Window] = []
        self._windows = self._fewer = self._same = 0
        self._evidence: list[tuple[int, ...]] = []
        self._same_lines: tuple[int, ...] = ()

    def window(self, window: Window) -> None:
        if window.counts.graphs:
            self.add(GRAPH, count(window.counts.graphs, "graph launch", "graph launches"), window.lines)
        if window.counts.launches == 0:
            return
        self._windows += 1
        if self._last and _has_same_parameters(self._last[-1], window):
            self._same += 1
            self._same_lines = self._same_lines or window.lines
        self._last = [*self._last[-2:], window]
        if len(self._last) == 3 and _is_dip(*self._last):
            self._fewer += 1
            if len(self._evidence) < 10:
                self._evidence.append(self._last[1].lines)

    def finish(self, process: Process) -> None:  # noqa: ARG002
        if self._fewer and 3 * self._fewer <= self._windows:
            for index, lines in enumerate(self._evidence):
                number = self._fewer - len(self._evidence) + 1 if index == 0 else 1
                self.add(FEWER, "some of the kernels of the window before", lines, number)
        if self._same:
            text = count(self._same + 1, "window")
            self.add(SAME_PARAMETERS, text, self._same_lines, self._same)


def _has_same_parameters(one: Window, other: Window) -> bool:
    return (
        one.counts.launch_hash == other.counts.launch_hash
        and one.counts.parameter_hash == other.counts.parameter_hash
    )


def _is_dip(before: Window, window: Window, behind: Window) -> bool:
    """Whether the windows round one are equal, and it has only some of their kernels."""
    if (
        before.counts.launch_hash != behind.counts.launch_hash
        or before.launches is None
        or window.launches is None
    ):
        return False
    is_subset = window.launches <= before.launches
    return is_subset and window.counts.launches < before.counts.launches
