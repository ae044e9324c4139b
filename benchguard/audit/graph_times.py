"""Launches of each graph: their host time, and their time on the GPU."""

from __future__ import annotations

from dataclasses import dataclass, field

from . import entries
from .durations import Durations, GpuTime, HostTime
from .names import SUCCESS


@dataclass(frozen=True)
class GraphRow:
    """The launches of one graph of a process. `kernels` is the number of its kernel nodes; None if it is not known."""

    process: int
    graph: int
    kernels: int | None
    launches: int
    failed: int
    host: HostTime
    gpu: GpuTime | None
    """None if no launch of the graph was timed on the GPU."""


@dataclass
class _Graph:
    kernels: int | None = None
    failed: int = 0
    host: Durations = field(default_factory=Durations)
    gpu: Durations = field(default_factory=Durations)
    early: int = 0


class GraphTimes:
    """Collects the launches of the first graphs of a log."""

    def __init__(self, graphs_max: int) -> None:
        self._graphs: dict[tuple[int, int], _Graph] = {}
        self._graphs_max = graphs_max
        self.is_full = False
        """Whether launches of other graphs were left out."""

    def add_launch(self, entry: entries.GraphLaunchEntry) -> None:
        graph = self._graph(entry.process, entry.graph)
        if graph is None:
            return
        if entry.result != SUCCESS:
            graph.failed += 1
            return
        graph.kernels = entry.kernels
        graph.host.add(entry.duration_ns)

    def add_time(self, entry: entries.LaunchTimeEntry, overhead_ns: int) -> None:
        graph = None if entry.graph is None else self._graph(entry.process, entry.graph)
        if graph is not None:
            graph.gpu.add(entry.gpu_ns - overhead_ns)
            graph.early += entry.early

    def _graph(self, process: int, number: int) -> _Graph | None:
        if (process, number) not in self._graphs and len(self._graphs) >= self._graphs_max:
            self.is_full = True
            return None
        return self._graphs.setdefault((process, number), _Graph())

    def rows(self) -> list[GraphRow]:
        """The graphs, the longest GPU time first, then the longest host time."""
        rows = [
            GraphRow(
                process, number, graph.kernels, graph.host.count, graph.failed, graph.host.summary(),
                gpu_time(graph.gpu, graph.early),
            )
            for (process, number), graph in self._graphs.items()
        ]  # fmt: skip
        return sorted(rows, key=lambda row: (-(row.gpu.total_ns if row.gpu else 0), -row.host.total_ns))


def gpu_time(times: Durations, early: int) -> GpuTime | None:
    """None without times."""
    if not times.count:
        return None
    host = times.summary()
    return GpuTime(times.count, early, host.total_ns, host.median_ns, host.p99_ns, host.max_ns)
