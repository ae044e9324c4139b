"""Tables of a log: kernels, calls and images. Each has at most ROWS_MAX rows; further names share one row."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ..audit.entries import GraphEntry, GraphKernel, GraphLaunchEntry, ImageEntry, KernelEntry, LaunchEntry

ROWS_MAX = 20_000
SHAPES_MAX = 256
NODES_MAX = 1 << 20
"""Kernel nodes of all graphs together whose launches are counted."""

OTHERS = "(other names)"

Shape = tuple[tuple[int, int, int], tuple[int, int, int]]


@dataclass
class KernelRow:
    """A kernel of an image. Times are the host's, in nanoseconds: of the launch calls, not of the kernel.

    `resources` is None if the log does not describe the kernel. `shapes` counts grids with blocks, up to SHAPES_MAX.
    """

    name: str
    image: str | None
    launches: int = 0
    graph_launches: int = 0
    captured: int = 0
    failed: int = 0
    host_ns: int = 0
    shared_bytes: int = 0
    shapes: Counter[Shape] = field(default_factory=Counter)
    resources: KernelEntry | None = None

    @property
    def total(self) -> int:
        return self.launches + self.graph_launches


@dataclass
class CallRow:
    """A driver call. `errors` counts results other than 0; times are in nanoseconds."""

    name: str
    group: str
    count: int = 0
    total_ns: int = 0
    longest_ns: int = 0
    errors: Counter[int] = field(default_factory=Counter)


@dataclass
class ImageRow:
    sha256: str | None
    format: str
    bytes: int
    origin: str
    note: str | None
    loads: int = 0


@dataclass
class Tables:
    """Counts the lines of a log."""

    kernels: dict[tuple[str, str | None], KernelRow] = field(default_factory=dict)
    calls: dict[str, CallRow] = field(default_factory=dict)
    images: dict[tuple[str | None, str], ImageRow] = field(default_factory=dict)
    uncounted_nodes: int = 0
    """Kernel nodes of graphs that are not counted, because there are more than NODES_MAX."""

    _graphs: dict[tuple[int, int], list[GraphKernel]] = field(default_factory=dict)
    _launched: Counter[tuple[int, int]] = field(default_factory=Counter)
    _nodes: int = 0

    def launch(self, line: LaunchEntry) -> None:
        row = self._kernel(line.demangled or line.name, line.image)
        row.host_ns += line.duration_ns
        if line.result != 0:
            row.failed += 1
        elif line.captured:
            row.captured += 1
        else:
            row.launches += 1
            _count_shape(row, (line.grid, line.block))
            row.shared_bytes = max(row.shared_bytes, line.shared_bytes)

    def kernel(self, line: KernelEntry) -> None:
        self._kernel(line.demangled or line.name, line.image).resources = line

    def graph(self, line: GraphEntry) -> None:
        key = line.process, line.graph
        if line.first == 0:  # a new graph, or an update of one that was launched
            self._fold(key)
            self._nodes -= len(self._graphs.pop(key, []))
        if self._nodes + len(line.kernels) > NODES_MAX:
            self.uncounted_nodes += len(line.kernels)
            return
        self._nodes += len(line.kernels)
        self._graphs.setdefault(key, []).extend(line.kernels)

    def graph_launch(self, line: GraphLaunchEntry) -> None:
        if line.result == 0 and (line.process, line.graph) in self._graphs:
            self._launched[line.process, line.graph] += 1

    def finish(self) -> None:
        """Count the nodes of all graphs that were launched. Call this after the last line."""
        for key in list(self._graphs):
            self._fold(key)

    def _fold(self, key: tuple[int, int]) -> None:
        times = self._launched.pop(key, 0)
        for node in self._graphs.get(key, []) if times else ():
            row = self._kernel(node.demangled or node.name, node.image)
            row.graph_launches += times
            _count_shape(row, (node.grid, node.block), times)
            row.shared_bytes = max(row.shared_bytes, node.shared_bytes)

    def call(self, name: str, group: str, duration_ns: int, result: int) -> None:
        if name not in self.calls and len(self.calls) >= ROWS_MAX:
            name, group = OTHERS, ""
        row = self.calls.setdefault(name, CallRow(name, group))
        row.count += 1
        row.total_ns += duration_ns
        row.longest_ns = max(row.longest_ns, duration_ns)
        if result != 0 and (result in row.errors or len(row.errors) < SHAPES_MAX):
            row.errors[result] += 1

    def image(self, line: ImageEntry) -> None:
        key: tuple[str | None, str] = line.sha256, line.origin
        if key not in self.images and len(self.images) >= ROWS_MAX:
            key = None, OTHERS
        row = self.images.setdefault(key, ImageRow(key[0], line.format, line.bytes, key[1], line.note))
        row.loads += 1

    def _kernel(self, name: str | None, image: str | None) -> KernelRow:
        key: tuple[str, str | None] = name or "(unknown)", image
        if key not in self.kernels and len(self.kernels) >= ROWS_MAX:
            key = OTHERS, None
        return self.kernels.setdefault(key, KernelRow(*key))


def _count_shape(row: KernelRow, shape: Shape, times: int = 1) -> None:
    if shape in row.shapes or len(row.shapes) < SHAPES_MAX:
        row.shapes[shape] += times
