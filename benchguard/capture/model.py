"""The elements of a capture. hook/core/wire/capture_format.h documents each field.

Small data (names, parameters) is here; bulk data (memory, images) is a Content, which Capture.content reads. Indexes
are positions in the capture's tables.

The elements are structs of msgspec: to define 30 dataclasses takes 30 ms in each process.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

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


class Content(msgspec.Struct, frozen=True):
    """Bulk data: `bytes` bytes in the capture's blobs, beginning with blob `first`."""

    first: int
    bytes: int


NO_CONTENT = Content(0, 0)


class Device(msgspec.Struct, frozen=True):
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


class Limit(msgspec.Struct, frozen=True):
    limit: int
    value: int


class Image(msgspec.Struct, frozen=True):
    sha256: str
    format: ImageFormat
    origin: str
    content: Content


class Option(msgspec.Struct, frozen=True):
    option: int
    value: int


class Module(msgspec.Struct, frozen=True):
    image: int
    kind: ModuleKind
    options: tuple[Option, ...] = ()


class Parameter(msgspec.Struct, frozen=True):
    offset: int
    size: int


class Setting(msgspec.Struct, frozen=True):
    attribute: int
    value: int


class Kernel(msgspec.Struct, frozen=True):
    module: int
    parameter_bytes: int
    registers: int
    static_shared_bytes: int
    local_bytes: int
    max_threads: int
    name: str
    layout: tuple[Parameter, ...] = ()
    attributes: tuple[Setting, ...] = ()


class Global(msgspec.Struct, frozen=True):
    module: int
    address: int
    bytes: int
    name: str
    before: Content
    after: Content = NO_CONTENT


class Allocation(msgspec.Struct, frozen=True):
    address: int
    bytes: int
    flags: AllocationFlag
    call: str = ""


class Run(msgspec.Struct, frozen=True):
    address: int
    bytes: int
    content: Content


class Stream(msgspec.Struct, frozen=True):
    handle: int
    kind: StreamKind
    flags: int = 0
    priority: int = 0


class Attribute(msgspec.Struct, frozen=True):
    """CUlaunchAttribute: its number and its 64 bytes of value."""

    id: int
    value: bytes


class Launch(msgspec.Struct, frozen=True):
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


class Memset(msgspec.Struct, frozen=True):
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


class Memcpy(msgspec.Struct, frozen=True):
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


class MemcpyHtoD(msgspec.Struct, frozen=True):
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


class MemcpyDtoH(msgspec.Struct, frozen=True):
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


class EventRecord(msgspec.Struct, frozen=True):
    stream: int
    event: int
    event_flags: int = 0
    graph: int = 0
    flags: OperationFlag = NO_FLAGS
    kind = OperationKind.EVENT_RECORD


class EventWait(msgspec.Struct, frozen=True):
    stream: int
    event: int
    event_flags: int = 0
    graph: int = 0
    flags: OperationFlag = NO_FLAGS
    kind = OperationKind.EVENT_WAIT


class Synchronize(msgspec.Struct, frozen=True):
    """`stream` may be NOTHING: the host waited for all."""

    stream: int = NOTHING
    graph: int = 0
    flags: OperationFlag = NO_FLAGS
    kind = OperationKind.SYNCHRONIZE


class GraphLaunch(msgspec.Struct, frozen=True):
    stream: int
    launched: int
    graph: int = 0
    flags: OperationFlag = NO_FLAGS
    kind = OperationKind.GRAPH_LAUNCH


class Empty(msgspec.Struct, frozen=True):
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


class Edge(msgspec.Struct, frozen=True):
    """Node `target` of a graph runs after node `source`; both are indexes of operations."""

    source: int
    target: int
    from_port: int = 0
    to_port: int = 0
    type: int = 0


class Relocation(msgspec.Struct, frozen=True):
    operation: int
    offset: int
    global_index: int
    delta: int


class Refusal(msgspec.Struct, frozen=True):
    operation: int
    call: str
    reason: str
    flags: RefusalFlag = NO_REFUSAL_FLAGS

    @property
    def is_doubt(self) -> bool:
        """Whether a replay may succeed: a kernel gets the address of host memory, and may not access it."""
        return bool(self.flags & RefusalFlag.ADDRESS)


class Range(msgspec.Struct, frozen=True):
    address: int
    bytes: int
    role: Role
    name: str
    type: str = ""
    shape: tuple[int, ...] = ()


class Meta(msgspec.Struct, frozen=True):
    key: str
    value: str


class End(msgspec.Struct, frozen=True):
    status: int
    operations: int
