"""The numbers of hook/core/wire/record.h. tests/unit/audit/test_layout.py holds the two against each other."""

from __future__ import annotations

import enum
from struct import Struct

FORMAT_VERSION = 1
PAGE = 4096
SESSION_MAGIC = 0x4F4E49525455454E
RECORD_MAX = 65536
STRING_MAX = 16384
PARAMETERS_MAX = 4096
ATTRIBUTES_MAX = 16
ARGUMENTS_MAX = 16


class RingState(enum.IntEnum):
    FREE = 0
    CLAIMED = 1
    LIVE = 2
    CLOSED = 3


class RecordKind(enum.IntEnum):
    CALL = 1
    LAUNCH = 2
    IMAGE = 3
    KERNEL = 4
    PROCESS = 5
    CLOCK = 6
    UNMAPPED = 7
    GRAPH = 8
    GRAPH_NODE = 9
    GRAPH_LAUNCH = 10
    NOTE = 11


class ImageFormat(enum.IntEnum):
    UNKNOWN = 0
    PTX = 1
    ELF = 2
    FATBIN = 3
    OFFLOAD_BUNDLE = 5
    COMPRESSED_BUNDLE = 6
    CODE_OBJECT = 7


class LayoutSource(enum.IntEnum):
    UNKNOWN = 0
    DRIVER = 1
    IMAGE = 2


class LaunchFlag(enum.IntFlag):
    COOPERATIVE = 1
    EXTRA = 2
    CAPTURED = 4
    ATTRIBUTES_CUT = 8


# struct nb_session: magic, version, ring_count, ring_bytes, image_offset, image_bytes, nonce, reserved;
# then the process's counters: image_next, images_dropped, rings_exhausted, calls_lost.
SESSION = Struct("<QIIQQQ16s8x")
SESSION_COUNTERS = Struct("<QQQQ")
SESSION_COUNTERS_AT = SESSION.size

# struct nb_ring, by its cache lines.
RING_PRODUCER = Struct("<QQQQ")  # head, dropped, in_flight, in_flight_since
RING_TAIL_AT = 64
RING_STATE_AT = 128
RING_IDENTITY = Struct("<IIIIQQQQ")  # state, process, thread, reserved, started, pid_namespace, tsc, ns
RING_BYTES = 192

RECORD = Struct("<IHHQQiI")  # size, kind, slot, begin, end, result, count
PROCESS = Struct("<IIQQQQII")  # process, parent, first tsc, ns, last tsc, ns, executable bytes, driver bytes
IMAGE = Struct("<QQQQIIII")  # image, handle, bytes, stored_at, format, stored, origin bytes, note bytes
KERNEL = Struct(
    "<QQQIIIIIIII"
)  # kernel, handle, image, registers .. binary_version, layout source, name bytes
PARAMETER = Struct("<II")  # offset, size
ATTRIBUTE = Struct("<I4x64s")  # id, value
LAUNCH = Struct("<QQ3I3IIIII")  # kernel, stream, grid, block, shared, flags, parameter bytes, kept bytes
UNMAPPED = Struct("<QI4x")  # flags, asked version
GRAPH = Struct("<QQII")  # graph, handle, nodes, opaque
GRAPH_NODE = Struct("<QQ3I3IIIII")  # graph, kernel, then as LAUNCH
GRAPH_LAUNCH = Struct("<QQ")  # graph, stream
WORD = Struct("<Q")
