"""Graphs in the summary: launches, host time and GPU time of each, in bounded memory."""

from __future__ import annotations

import pytest

from benchguard.audit import tally
from benchguard.audit.summary import Summary
from tests.support.log_lines import Line, graph, graph_launch, node, summary_of


def time_of(graph_number: int, gpu_ns: int, **more: object) -> Line:
    line = {
        "kind": "launch_time",
        "number": 1,
        "stream": 0,
        "kernel": None,
        "graph": graph_number,
        "name": None,
    }
    more = {"demangled": None, "image": None, "early": False, "process": 1, "thread": 1, **more}
    return {**line, "gpu_ns": gpu_ns, "time_ns": 9, **more}


def summary(*lines: Line) -> Summary:
    return summary_of(*lines, gpu_time=True, gpu_overhead_ns=100)


def test_graphs_have_their_launches_and_times() -> None:
    kernels = [node("a", None, [1, 1, 1], [1, 1, 1])] * 2
    found = summary(
        graph(1, kernels), graph(2, kernels),
        graph_launch(1, kernels=2), graph_launch(1, kernels=2, duration_ns=9000), graph_launch(2, kernels=2),
        graph_launch(2, kernels=2, result=700), graph_launch(2, process=8),
        time_of(2, 5100, early=True), time_of(1, 1100), time_of(1, 2100),
    )  # fmt: skip
    assert [
        (row.process, row.graph, row.kernels, row.launches, row.failed, row.host.total_ns)
        for row in found.graphs
    ] == [(1, 2, 2, 1, 1, 7000), (1, 1, 2, 2, 0, 16000), (8, 2, None, 1, 0, 7000)]
    first, second, other = (row.gpu for row in found.graphs)
    assert first is not None and (first.launches, first.early, first.total_ns) == (1, 1, 5000)
    assert second is not None and (second.launches, second.early, second.total_ns) == (2, 0, 3000)
    assert other is None


def test_graphs_beyond_the_limit_are_left_out_and_counted_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, "ROWS_MAX", 3)
    found = summary(*(graph_launch(number) for number in range(5)), time_of(9, 1))
    assert [row.graph for row in found.graphs] == [0, 1, 2]
    assert found.limits == ["only the first 3 graphs are listed"]
    assert found.gpu_graph_launches == 1
