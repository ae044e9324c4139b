"""The structs of hook/core/wire/capture_format.h, as data. tests/unit/capture/test_layout.py holds the two together."""

from __future__ import annotations

import enum

from .fields import Field, Holds, Layout, array, content, i32, reserved, sha256, text, u8, u32, u64

VERSION = 1
RECORDING_MAGIC = 0x44524F434552424E
CAPTURE_MAGIC = 0x455255545041434E
PAGE = 4096
BLOB_MAX = 1 << 20
BLOBS_MAX = 1 << 24
TABLE_MAX = 256 << 20
ARENA = 0x300000000000
NOTHING = 0xFFFFFFFF


class Kind(enum.IntEnum):
    DATA = 1
    DEVICE = 2
    LIMIT = 3
    IMAGE = 4
    MODULE = 5
    KERNEL = 6
    GLOBAL = 7
    ALLOCATION = 8
    BEFORE = 9
    AFTER = 10
    STREAM = 11
    OPERATION = 12
    EDGE = 13
    RELOCATION = 14
    REFUSAL = 15
    RANGE = 16
    META = 17
    END = 18


class OperationKind(enum.IntEnum):
    LAUNCH = 1
    SET = 2
    COPY = 3
    UPLOAD = 4
    EVENT_RECORD = 5
    EVENT_WAIT = 6
    JOIN = 7
    GRAPH_LAUNCH = 8
    EMPTY = 9


class OperationFlag(enum.IntFlag):
    COOPERATIVE = 1
    DISABLED = 2
    NODE_PRIORITIES = 4


NO_FLAGS = OperationFlag(0)


class AllocationFlag(enum.IntFlag):
    BEFORE = 1
    AFTER = 2


class RefusalFlag(enum.IntFlag):
    READ = 1


NO_REFUSAL_FLAGS = RefusalFlag(0)


class ImageFormat(enum.IntEnum):
    """enum nb_image_format of record.h."""

    UNKNOWN = 0
    PTX = 1
    ELF = 2
    FATBIN = 3
    OFFLOAD_BUNDLE = 5
    COMPRESSED_BUNDLE = 6
    CODE_OBJECT = 7


class Vendor(enum.IntEnum):
    CUDA = 1
    HIP = 2


class ModuleKind(enum.IntEnum):
    MODULE = 1
    LIBRARY = 2


class StreamKind(enum.IntEnum):
    LEGACY = 1
    PER_THREAD = 2
    CREATED = 3


class Role(enum.IntEnum):
    INPUT = 1
    OUTPUT = 2
    STATE = 3


class Compression(enum.IntEnum):
    NONE = 0
    ZSTD = 1


RECORDING = Layout(
    "recording", (u64("magic"), u32("version"), u32("process"), u32("region"), reserved())
)  # fmt: skip
ELEMENT = Layout("element", (u32("kind"), reserved(), u64("bytes")))
CAPTURE = Layout(
    "capture",
    (
        u64("magic"),
        u32("version"),
        u32("section_count"),
        u64("file_bytes"),
        u64("blob_offset"),
        u32("blob_count"),
        reserved(),
        u64("section_offset"),
        sha256("sha256"),
    ),
)
BLOB = Layout(
    "blob",
    (
        sha256("sha256"),
        u64("offset"),
        u32("stored_bytes"),
        u32("raw_bytes"),
        u32("compression", Compression),
        reserved(),
    ),
)
SECTION = Layout(
    "section", (u32("kind"), u32("element_bytes"), u64("count"), u32("first_blob"), u32("blob_count"))
)

PARAMETER = Layout("parameter", (u32("offset"), u32("size")))
ATTRIBUTE = Layout("attribute", (u32("id"), reserved(), Field("value", "64s")))
OPTION = Layout("capture_option", (u32("option"), reserved(), u64("value")))
SETTING = Layout("capture_setting", (u32("attribute"), i32("value")))

DEVICE = Layout(
    "capture_device",
    (
        u32("vendor", Vendor),
        u32("driver_version"),
        u32("compute_major"),
        u32("compute_minor"),
        u32("multiprocessors"),
        u32("l2_bytes"),
        u64("memory_bytes"),
        u64("arena"),
        u64("arena_bytes"),
        Field("uuid", "16s"),
        text("name"),
    ),
)
LIMIT = Layout("capture_limit", (u32("limit"), reserved(), u64("value")))
IMAGE = Layout(
    "capture_image",
    (sha256("sha256"), u32("format", ImageFormat), reserved(), text("origin"), content("content")),
)
MODULE = Layout("capture_module", (u32("image"), u32("kind", ModuleKind), array("options", OPTION)))
KERNEL = Layout(
    "capture_kernel",
    (
        u32("module"),
        u32("parameter_bytes"),
        u32("registers"),
        u32("static_shared_bytes"),
        u32("local_bytes"),
        u32("max_threads"),
        text("name"),
        array("layout", PARAMETER),
        array("attributes", SETTING),
    ),
)
GLOBAL = Layout(
    "capture_global",
    (
        u32("module"),
        reserved(),
        u64("address"),
        u64("bytes"),
        text("name"),
        content("before"),
        content("after"),
    ),
)
ALLOCATION = Layout(
    "capture_allocation",
    (u64("address"), u64("bytes"), u32("flags", AllocationFlag), reserved("slot"), text("call")),
)
RUN = Layout("capture_run", (u64("address"), u64("bytes"), content("content")))
STREAM = Layout(
    "capture_stream",
    (u64("handle"), u32("kind", StreamKind), u32("flags"), i32("priority"), reserved()),
)
EDGE = Layout(
    "capture_edge",
    (
        u32("from", called="source"),
        u32("to", called="target"),
        u8("from_port"),
        u8("to_port"),
        u8("type"),
        reserved(code="B"),
        reserved("padding"),
    ),
)
RELOCATION = Layout(
    "capture_relocation",
    (u32("operation"), u32("offset"), u32("global", called="variable"), reserved(), u64("delta")),
)
REFUSAL = Layout(
    "capture_refusal",
    (u32("operation"), u32("flags", RefusalFlag), text("call"), text("reason")),
)
RANGE = Layout(
    "capture_range",
    (
        u64("address"),
        u64("bytes"),
        u32("role", Role),
        reserved(),
        text("name"),
        text("type"),
        array("shape", Holds.WORDS),
    ),
)
META = Layout("capture_meta", (text("key"), text("value")))
END = Layout("capture_end", (u32("status"), u32("operations")))

UNION_BYTES = 88
_COMMON = (
    u32("kind", OperationKind),
    u32("flags", OperationFlag),
    u32("stream"),
    u32("graph"),
)


def _operation(*fields: Field) -> Layout:
    """struct nb_capture_operation with one member of its union."""
    rest = UNION_BYTES - sum(field.bytes for field in fields)
    return Layout("capture_operation", (*_COMMON, *fields, reserved("", f"{rest}s")))


_EVENT = _operation(u32("as.event.event"), u32("as.event.flags", called="event_flags"))
_NONE = _operation()
OPERATIONS = {
    OperationKind.LAUNCH: _operation(
        u32("as.launch.kernel"),
        Field("as.launch.grid", "3I"),
        Field("as.launch.block", "3I"),
        u32("as.launch.shared_bytes"),
        array("as.launch.parameters", Holds.BYTES),
        array("as.launch.attributes", ATTRIBUTE),
    ),
    OperationKind.SET: _operation(
        u64("as.set.address"),
        u64("as.set.pitch"),
        u64("as.set.width"),
        u64("as.set.height"),
        u32("as.set.value"),
        u32("as.set.element_bytes"),
    ),
    OperationKind.COPY: _operation(
        u64("as.copy.destination"),
        u64("as.copy.destination_pitch"),
        u64("as.copy.destination_slice"),
        u64("as.copy.source"),
        u64("as.copy.source_pitch"),
        u64("as.copy.source_slice"),
        u64("as.copy.width"),
        u64("as.copy.height"),
        u64("as.copy.depth"),
    ),
    OperationKind.UPLOAD: _operation(
        u64("as.copy.destination"),
        u64("as.copy.destination_pitch"),
        u64("as.copy.destination_slice"),
        reserved("as.copy.source", "24s"),
        u64("as.copy.width"),
        u64("as.copy.height"),
        u64("as.copy.depth"),
        content("as.copy.content"),
    ),
    OperationKind.EVENT_RECORD: _EVENT,
    OperationKind.EVENT_WAIT: _EVENT,
    OperationKind.JOIN: _NONE,
    OperationKind.GRAPH_LAUNCH: _operation(
        u32("as.graph.graph", called="launched"), reserved("as.graph.reserved")
    ),
    OperationKind.EMPTY: _NONE,
}

# What a table of each kind holds. An operation has more in it, by its own kind.
ELEMENTS = {
    Kind.DEVICE: DEVICE,
    Kind.LIMIT: LIMIT,
    Kind.IMAGE: IMAGE,
    Kind.MODULE: MODULE,
    Kind.KERNEL: KERNEL,
    Kind.GLOBAL: GLOBAL,
    Kind.ALLOCATION: ALLOCATION,
    Kind.BEFORE: RUN,
    Kind.AFTER: RUN,
    Kind.STREAM: STREAM,
    Kind.OPERATION: _NONE,
    Kind.EDGE: EDGE,
    Kind.RELOCATION: RELOCATION,
    Kind.REFUSAL: REFUSAL,
    Kind.RANGE: RANGE,
    Kind.META: META,
    Kind.END: END,
}
