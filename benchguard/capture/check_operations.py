"""The rules of operations, graphs and relocations (docs/formats.md)."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING

from .codec import MalformedError, check_index
from .layout import NOTHING, OperationFlag, OperationKind
from .model import Copy, Edge, EventRecord, EventWait, GraphLaunch, Launch, Operation, Relocation, Set, Upload

if TYPE_CHECKING:
    from .reader import Capture

GRID_MAX = (0x7FFFFFFF, 0xFFFF, 0xFFFF)
BLOCK_MAX = 1024
SHARED_MAX = 1 << 20
PARAMETERS_MAX = 1 << 16
ATTRIBUTES_MAX = 64
# What can only be a step of the region; EMPTY can only be a node, the rest may be both.
STEPS = frozenset(
    {
        OperationKind.EVENT_RECORD,
        OperationKind.EVENT_WAIT,
        OperationKind.JOIN,
        OperationKind.GRAPH_LAUNCH,
    }
)


class OperationRules:
    """`inside` is Memory.inside. Operations are given in their order."""

    def __init__(self, capture: Capture, inside: Callable[[int, int, str], None]) -> None:
        self._capture = capture
        self._inside = inside
        self._count = len(capture.operations)
        self._streams = len(capture.streams)
        self._parameter_bytes = array("I", (kernel.parameter_bytes for kernel in capture.kernels))
        self._graph_of = array("I")
        self._recorded: set[int] = set()
        self._launched: dict[int, int] = {}
        self._edges: list[tuple[int, int]] = []

    def operation(self, operation: Operation) -> None:
        self._check_place(operation)
        match operation:
            case Launch():
                self._check_launch(operation)
            case Set():
                self._check_set(operation)
            case Copy():
                source = (operation.source, operation.source_pitch, operation.source_slice)
                self._check_rows(operation, *source, "source")
                self._check_destination(operation)
            case Upload():
                self._check_destination(operation)
                if operation.content.bytes != operation.width * operation.height * operation.depth:
                    raise MalformedError(f"{operation.content.bytes} bytes are not what its rows are")
                self._capture.blobs.check(operation.content)
            case EventRecord():
                check_index(operation.event, self._count, "event")
                self._recorded.add(operation.event)
            case EventWait():
                if operation.event not in self._recorded:
                    raise MalformedError(f"waits for event {operation.event}, which was not recorded before")
            case GraphLaunch():
                self._launched.setdefault(operation.launched, len(self._graph_of))
            case _:
                pass
        self._graph_of.append(operation.graph)

    def check_graphs_exist(self) -> None:
        graphs = set(self._graph_of) - {0}
        for graph, index in self._launched.items():
            if graph not in graphs:
                raise MalformedError(f"operation {index}: launches graph {graph}, which has no nodes")

    def edge(self, edge: Edge) -> None:
        for end in (edge.source, edge.target):
            check_index(end, self._count, "operation")
        graph = self._graph_of[edge.source]
        if not graph or graph != self._graph_of[edge.target] or edge.source == edge.target:
            raise MalformedError(f"operations {edge.source} and {edge.target} are not two nodes of one graph")
        self._edges.append((edge.source, edge.target))

    def check_acyclic(self) -> None:
        """Kahn's: take away nodes that nothing is before; what is left is in or behind a cycle."""
        after: defaultdict[int, list[int]] = defaultdict(list)
        waits: defaultdict[int, int] = defaultdict(int)
        for source, target in self._edges:
            after[source].append(target)
            waits[target] += 1
        ready = [node for node in after if not waits[node]]
        while ready:
            for node in after[ready.pop()]:
                waits[node] -= 1
                if not waits[node]:
                    ready.append(node)
        left = [node for node, count in waits.items() if count]
        if left:
            raise MalformedError(f"operation {min(left)}: its graph goes round in a circle")

    def relocation(self, relocation: Relocation) -> None:
        check_index(relocation.operation, self._count, "operation")
        check_index(relocation.variable, len(self._capture.globals), "global")
        launch = self._capture.operations[relocation.operation]
        if not isinstance(launch, Launch) or relocation.offset + 8 > len(launch.parameters):
            raise MalformedError(
                f"operation {relocation.operation} has no 8 bytes of parameters at {relocation.offset}"
            )
        if relocation.delta > self._capture.globals[relocation.variable].bytes:
            raise MalformedError(f"{relocation.delta} bytes into a smaller variable")

    def _check_place(self, operation: Operation) -> None:
        kind, flags = operation.kind, operation.flags
        if kind in STEPS if operation.graph else kind is OperationKind.EMPTY:
            raise MalformedError(f"a {kind.name.lower()} in graph {operation.graph}, where 0 is the region")
        if operation.graph:
            check_index(operation.graph - 1, self._count, "graph, less 1,")
            if operation.stream != NOTHING:
                raise MalformedError(f"a node on stream {operation.stream}")
        elif operation.stream != NOTHING or kind is not OperationKind.JOIN:
            check_index(operation.stream, self._streams, "stream")
        if flags & OperationFlag.DISABLED and not operation.graph:
            raise MalformedError("switched off, but no node")
        if flags & OperationFlag.COOPERATIVE and kind is not OperationKind.LAUNCH:
            raise MalformedError("cooperative, but no launch")
        if flags & OperationFlag.NODE_PRIORITIES and kind is not OperationKind.GRAPH_LAUNCH:
            raise MalformedError("with its nodes' priorities, but no graph's launch")

    def _check_launch(self, launch: Launch) -> None:
        check_index(launch.kernel, len(self._parameter_bytes), "kernel")
        for size, most in zip((*launch.grid, *launch.block), (*GRID_MAX, *(BLOCK_MAX,) * 3), strict=True):
            if not 0 < size <= most:
                raise MalformedError(f"grid {launch.grid} and block {launch.block} cannot be")
        x, y, z = launch.block
        if x * y * z > BLOCK_MAX or launch.shared_bytes > SHARED_MAX:
            raise MalformedError(f"block {launch.block} with {launch.shared_bytes} shared bytes is too large")
        least = self._parameter_bytes[launch.kernel]
        if not least <= len(launch.parameters) <= PARAMETERS_MAX:
            raise MalformedError(f"{len(launch.parameters)} bytes of parameters, but its kernel has {least}")
        if len(launch.attributes) > ATTRIBUTES_MAX:
            raise MalformedError(
                f"{len(launch.attributes)} attributes, where at most {ATTRIBUTES_MAX} can be"
            )

    def _check_set(self, memset: Set) -> None:
        if memset.element_bytes not in (1, 2, 4) or memset.value >> 8 * memset.element_bytes:
            raise MalformedError(f"elements of {memset.element_bytes} bytes with value {memset.value:#x}")
        rows = (memset.width * memset.element_bytes, memset.height, 1)
        self._check_extent(memset.address, memset.pitch, 0, rows, "memory")

    def _check_destination(self, copy: Copy | Upload) -> None:
        self._check_rows(
            copy, copy.destination, copy.destination_pitch, copy.destination_slice, "destination"
        )

    def _check_rows(self, copy: Copy | Upload, address: int, pitch: int, slice_: int, what: str) -> None:
        self._check_extent(address, pitch, slice_, (copy.width, copy.height, copy.depth), what)

    def _check_extent(
        self, address: int, pitch: int, slice_: int, rows: tuple[int, int, int], what: str
    ) -> None:
        """Rows do not overlap, nor do slices; all of them are in memory that the capture has."""
        width, height, depth = rows
        if not height or not depth:
            raise MalformedError(f"{what}: no rows")
        plane = (height - 1) * pitch + width
        if (height > 1 and pitch < width) or (depth > 1 and slice_ < plane):
            raise MalformedError(f"{what}: rows or slices overlap")
        if width:
            self._inside(address, (depth - 1) * slice_ + plane, what)
