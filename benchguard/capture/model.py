"""The elements of a capture. hook/core/wire/capture_format.h documents each field.

Small data (names, parameters) is here; bulk data (memory, images) is a Content, which Capture.content reads. Indexes
are positions in the capture's tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .layout import (
    NO_FLAGS,
    NO_REFUSAL_FLAGS,
    NOTHING,
    AllocationFlag,
    ImageFormat,
    ModuleKind,
    OperationFlag,
    OperationKind,
    RefusalFlag,
    Role,
    StreamKind,
    Vendor,
)

Dim3: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True)
class Content:
    """Bulk data: `bytes` bytes in the capture's blobs, beginning with blob `first`."""

    first: int
    bytes: int


NO_CONTENT = Content(0, 0)


@dataclass(frozen=True)
class Device:
    vendor: Vendor
    driver_version: int
    compute_major: int
    compute_minor: int
    multiprocessors: int
    l2_bytes: int
    memory_bytes: int
    arena: int
    arena_bytes: int
    uuid: str
    name: str


@dataclass(frozen=True)
class Limit:
    limit: int
    value: int


@dataclass(frozen=True)
class Image:
    sha256: str
    format: ImageFormat
    origin: str
    content: Content


@dataclass(frozen=True)
class Option:
    option: int
    value: int


@dataclass(frozen=True)
class Module:
    image: int
    kind: ModuleKind
    options: tuple[Option, ...] = ()


@dataclass(frozen=True)
class Parameter:
    offset: int
    size: int


@dataclass(frozen=True)
class Setting:
    attribute: int
    value: int


@dataclass(frozen=True)
class Kernel:
    module: int
    parameter_bytes: int
    registers: int
    static_shared_bytes: int
    local_bytes: int
    max_threads: int
    name: str
    layout: tuple[Parameter, ...] = ()
    attributes: tuple[Setting, ...] = ()


@dataclass(frozen=True)
class Global:
    module: int
    address: int
    bytes: int
    name: str
    before: Content
    after: Content = NO_CONTENT


@dataclass(frozen=True)
class Allocation:
    address: int
    bytes: int
    flags: AllocationFlag
    call: str = ""


@dataclass(frozen=True)
class Run:
    address: int
    bytes: int
    content: Content


@dataclass(frozen=True)
class Stream:
    handle: int
    kind: StreamKind
    flags: int = 0
    priority: int = 0


@dataclass(frozen=True)
class Attribute:
    """CUlaunchAttribute: its number and its 64 bytes of value."""

    id: int
    value: bytes


@dataclass(frozen=True)
class Launch:
    stream: int
    kernel: int
    grid: Dim3
    block: Dim3
    shared_bytes: int
    parameters: bytes
    attributes: tuple[Attribute, ...] = ()
    graph: int = 0
    flags: OperationFlag = NO_FLAGS
    kind = OperationKind.KERNEL


@dataclass(frozen=True)
class Memset:
    stream: int
    address: int
    pitch: int
    width: int
    height: int
    value: int
    element_bytes: int
    graph: int = 0
    flags: OperationFlag = NO_FLAGS
    kind = OperationKind.MEMSET


@dataclass(frozen=True)
class Memcpy:
    stream: int
    destination: int
    destination_pitch: int
    destination_slice: int
    source: int
    source_pitch: int
    source_slice: int
    width: int
    height: int = 1
    depth: int = 1
    graph: int = 0
    flags: OperationFlag = NO_FLAGS
    kind = OperationKind.MEMCPY


@dataclass(frozen=True)
class MemcpyHtoD:
    stream: int
    destination: int
    destination_pitch: int
    destination_slice: int
    width: int
    height: int
    depth: int
    content: Content
    graph: int = 0
    flags: OperationFlag = NO_FLAGS
    kind = OperationKind.MEMCPY_HTOD


@dataclass(frozen=True)
class MemcpyDtoH:
    """A copy to the host. `content` has the bytes that the host got; `call` names the driver function."""

    stream: int
    call: str
    source: int
    source_pitch: int
    source_slice: int
    width: int
    height: int
    depth: int
    content: Content
    graph: int = 0
    flags: OperationFlag = NO_FLAGS
    kind = OperationKind.MEMCPY_DTOH


@dataclass(frozen=True)
class EventRecord:
    stream: int
    event: int
    event_flags: int = 0
    graph: int = 0
    flags: OperationFlag = NO_FLAGS
    kind = OperationKind.EVENT_RECORD


@dataclass(frozen=True)
class EventWait:
    stream: int
    event: int
    event_flags: int = 0
    graph: int = 0
    flags: OperationFlag = NO_FLAGS
    kind = OperationKind.EVENT_WAIT


@dataclass(frozen=True)
class Synchronize:
    """`stream` may be NOTHING: the host waited for all."""

    stream: int = NOTHING
    graph: int = 0
    flags: OperationFlag = NO_FLAGS
    kind = OperationKind.SYNCHRONIZE


@dataclass(frozen=True)
class GraphLaunch:
    stream: int
    launched: int
    graph: int = 0
    flags: OperationFlag = NO_FLAGS
    kind = OperationKind.GRAPH_LAUNCH


@dataclass(frozen=True)
class Empty:
    graph: int
    stream: int = NOTHING
    flags: OperationFlag = NO_FLAGS
    kind = OperationKind.EMPTY


Operation: TypeAlias = (
    Launch
    | Memset
    | Memcpy
    | MemcpyHtoD
    | MemcpyDtoH
    | EventRecord
    | EventWait
    | Synchronize
    | GraphLaunch
    | Empty
)


@dataclass(frozen=True)
class Edge:
    """Node `target` of a graph runs after node `source`; both are indexes of operations."""

    source: int
    target: int
    from_port: int = 0
    to_port: int = 0
    type: int = 0


@dataclass(frozen=True)
class Relocation:
    operation: int
    offset: int
    global_index: int
    delta: int


@dataclass(frozen=True)
class Refusal:
    operation: int
    call: str
    reason: str
    flags: RefusalFlag = NO_REFUSAL_FLAGS

    @property
    def is_doubt(self) -> bool:
        """Whether a replay may succeed: a kernel gets the address of host memory, and may not access it."""
        return bool(self.flags & RefusalFlag.ADDRESS)


@dataclass(frozen=True)
class Range:
    address: int
    bytes: int
    role: Role
    name: str
    type: str = ""
    shape: tuple[int, ...] = ()


@dataclass(frozen=True)
class Meta:
    key: str
    value: str


@dataclass(frozen=True)
class End:
    status: int
    operations: int
