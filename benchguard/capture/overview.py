"""A summary of a capture, for `neutrino-bench inspect`."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate

from .code_object import CodeObject, code_objects
from .errors import CaptureError
from .layout import AllocationFlag, ImageFormat, OperationFlag
from .model import Device, Dim3, GraphLaunch, Kernel, Launch, Limit, Option, Refusal, Run, Setting
from .reader import Capture
from .table import Table
from .unpack import CodeError

SCHEMA = "neutrino-bench/inspect/1"
AMD_FORMATS = (ImageFormat.OFFLOAD_BUNDLE, ImageFormat.COMPRESSED_BUNDLE, ImageFormat.CODE_OBJECT)
AMD_BYTES_MAX = 1 << 30
Shape = tuple[Dim3, Dim3, int]


@dataclass(frozen=True)
class KernelView:
    """A kernel with the shape of its first launch: grid, block, dynamic shared bytes. `graph_launches` counts
    nodes, each as often as its graph was launched."""

    name: str
    demangled: str | None
    image: str
    registers: int
    static_shared_bytes: int
    local_bytes: int
    parameter_bytes: int
    attributes: tuple[Setting, ...]
    launches: int
    graph_launches: int
    grid: Dim3
    block: Dim3
    shared_bytes: int
    shapes: int


@dataclass(frozen=True)
class ImageView:
    """`code`: what AMD's code objects in it say of themselves; `problem`: why that cannot be read."""

    sha256: str
    format: str
    bytes: int
    origin: str
    code: tuple[CodeObject, ...]
    problem: str


@dataclass(frozen=True)
class ModuleView:
    image: str
    kind: str
    options: tuple[Option, ...]


@dataclass(frozen=True)
class GlobalView:
    module: int
    name: str
    address: int
    bytes: int
    changed: bool


@dataclass(frozen=True)
class AllocationView:
    """`kept_bytes` of its memory before are not zero pages; `changed_bytes` are in pages that differ after. None: the
    capture does not have that memory."""

    address: int
    bytes: int
    call: str
    before: bool
    after: bool
    kept_bytes: int | None
    changed_bytes: int | None


@dataclass(frozen=True)
class StreamView:
    kind: str
    flags: int
    priority: int
    operations: int


@dataclass(frozen=True)
class GraphView:
    graph: int
    nodes: int
    edges: int
    launches: int


@dataclass(frozen=True)
class RangeView:
    name: str
    role: str
    address: int
    bytes: int
    type: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Sizes:
    """`raw_bytes` are those of all blobs; equal ones, stored once, count each time."""

    file_bytes: int
    raw_bytes: int
    blobs: int
    allocated_bytes: int
    kept_bytes: int
    changed_bytes: int


@dataclass(frozen=True)
class Overview:
    path: str
    name: str
    status: int
    device: Device
    meta: dict[str, str]
    limits: list[Limit]
    operations: dict[str, int]
    kernels: list[KernelView]
    images: list[ImageView]
    modules: list[ModuleView]
    globals: list[GlobalView]
    allocations: list[AllocationView]
    streams: list[StreamView]
    graphs: list[GraphView]
    ranges: list[RangeView]
    refusals: list[Refusal]
    sizes: Sizes
    schema: str = field(default=SCHEMA)


def overview(capture: Capture, demangle: Callable[[str], str | None]) -> Overview:
    """Names are as the capture has them: whoever shows them makes them printable."""
    tally = _Tally(capture)
    allocations = list(_allocations(capture))
    return Overview(
        path=str(capture.path),
        name=capture.name,
        status=capture.end.status,
        device=capture.device,
        meta=capture.meta,
        limits=list(capture.context_limits),
        operations=dict(tally.kinds),
        kernels=[tally.kernel(index, kernel, demangle) for index, kernel in enumerate(capture.kernels)],
        images=[_image(capture, index) for index in range(len(capture.images))],
        modules=[
            ModuleView(capture.images[each.image].sha256, each.kind.name.lower(), each.options)
            for each in capture.modules
        ],
        globals=[
            GlobalView(each.module, each.name, each.address, each.bytes, each.after.bytes > 0)
            for each in capture.globals
        ],
        allocations=allocations,
        streams=[
            StreamView(each.kind.name.lower(), each.flags, each.priority, tally.streams[index])
            for index, each in enumerate(capture.streams)
        ],
        graphs=list(tally.graphs()),
        ranges=[
            RangeView(each.name, each.role.name.lower(), each.address, each.bytes, each.type, each.shape)
            for each in capture.ranges
        ],
        refusals=list(capture.refusals),
        sizes=Sizes(
            file_bytes=capture.file_bytes,
            raw_bytes=capture.raw_bytes,
            blobs=capture.blobs.count,
            allocated_bytes=sum(each.bytes for each in allocations),
            kept_bytes=sum(run.bytes for run in capture.before),
            changed_bytes=sum(run.bytes for run in capture.after),
        ),
    )


def _image(capture: Capture, index: int) -> ImageView:
    image, code, problem = capture.images[index], tuple[CodeObject, ...](), ""
    if image.format in AMD_FORMATS and image.content.bytes > AMD_BYTES_MAX:
        problem = f"an image of more than {AMD_BYTES_MAX} bytes is not read"
    elif image.format in AMD_FORMATS:
        try:
            code = code_objects(capture.image(index))
        except (CaptureError, CodeError) as error:
            problem = str(error)
    return ImageView(
        image.sha256, image.format.name.lower(), image.content.bytes, image.origin, code, problem
    )


class _Tally:
    """Counts over all operations, made in one pass."""

    def __init__(self, capture: Capture) -> None:
        self.kinds: Counter[str] = Counter()
        self.streams: Counter[int] = Counter()
        self._nodes: Counter[int] = Counter()
        self._edges: Counter[int] = Counter()
        self._launched: Counter[int] = Counter()
        self._shapes: dict[int, dict[Shape, None]] = {}
        self._launches: Counter[int] = Counter()
        self._in_graphs: dict[int, Counter[int]] = {}
        self._images = [capture.images[module.image].sha256 for module in capture.modules]
        graph_of = []
        for operation in capture.operations:
            graph_of.append(operation.graph)
            if operation.graph:
                self._nodes[operation.graph] += 1
            else:
                self.kinds[operation.kind.name.lower()] += 1
                self.streams[operation.stream] += 1
            if isinstance(operation, Launch):
                self._launch(operation)
            elif isinstance(operation, GraphLaunch):
                self._launched[operation.launched] += 1
        for edge in capture.edges:
            self._edges[graph_of[edge.source]] += 1

    def _launch(self, launch: Launch) -> None:
        self._shapes.setdefault(launch.kernel, {})[launch.grid, launch.block, launch.shared_bytes] = None
        if not launch.graph:
            self._launches[launch.kernel] += 1
        elif not launch.flags & OperationFlag.DISABLED:
            self._in_graphs.setdefault(launch.kernel, Counter())[launch.graph] += 1

    def graphs(self) -> Iterator[GraphView]:
        for graph, nodes in sorted(self._nodes.items()):
            yield GraphView(graph, nodes, self._edges[graph], self._launched[graph])

    def kernel(self, index: int, kernel: Kernel, demangle: Callable[[str], str | None]) -> KernelView:
        shapes = self._shapes.get(index, {})
        grid, block, shared_bytes = next(iter(shapes), ((0, 0, 0), (0, 0, 0), 0))
        nodes = self._in_graphs.get(index, Counter())
        return KernelView(
            name=kernel.name,
            demangled=demangle(kernel.name),
            image=self._images[kernel.module],
            registers=kernel.registers,
            static_shared_bytes=kernel.static_shared_bytes,
            local_bytes=kernel.local_bytes,
            parameter_bytes=kernel.parameter_bytes,
            attributes=kernel.attributes,
            launches=self._launches[index],
            graph_launches=sum(count * self._launched[graph] for graph, count in nodes.items()),
            grid=grid,
            block=block,
            shared_bytes=shared_bytes,
            shapes=len(shapes),
        )


class _RunBytes:
    """How many bytes of a range are in runs: by sums, since both may be many."""

    def __init__(self, runs: Table[Run]) -> None:
        self._runs = [(run.address, run.bytes) for run in runs]
        self._before = [0, *accumulate(size for _, size in self._runs)]

    def within(self, begin: int, end: int) -> int:
        return self._up_to(end) - self._up_to(begin)

    def _up_to(self, address: int) -> int:
        at = bisect_right(self._runs, (address, 0)) - 1
        if at < 0:
            return 0
        start, size = self._runs[at]
        return self._before[at] + min(size, address - start)


def _allocations(capture: Capture) -> Iterator[AllocationView]:
    stored, changed = _RunBytes(capture.before), _RunBytes(capture.after)
    for each in capture.allocations:
        extent = each.address, each.address + each.bytes
        yield AllocationView(
            address=each.address,
            bytes=each.bytes,
            call=each.call,
            before=bool(each.flags & AllocationFlag.BEFORE),
            after=bool(each.flags & AllocationFlag.AFTER),
            kept_bytes=None if each.flags & AllocationFlag.BEFORE_UNKNOWN else stored.within(*extent),
            changed_bytes=None if each.flags & AllocationFlag.AFTER_UNKNOWN else changed.within(*extent),
        )
