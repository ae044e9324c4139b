"""A raw capture as plain dictionaries, by capture_format.h alone: what the shim wrote, seen without the packer."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HEADER = struct.Struct("<QIIII")
ELEMENT = struct.Struct("<IIQ")
MAGIC = int.from_bytes(b"NBRECORD", "little")
DEVICE, LIMIT, MODULE, KERNEL, GLOBAL, ALLOCATION, BEFORE, AFTER = 2, 3, 5, 6, 7, 8, 9, 10
STREAM, OPERATION, EDGE, RELOCATION, REFUSAL, RANGE, END = 11, 12, 13, 14, 15, 16, 18
PAGE, BLOB_MAX = 4096, 1 << 20
OPERATIONS = {
    2: ("set", "QQQQII", "address pitch width height value element_bytes"),
    3: ("copy", "QQQQQQQQQ", "to to_pitch to_slice source source_pitch source_slice width height depth"),
    4: (
        "upload",
        "QQQQQQQQQQQ",
        "to to_pitch to_slice source source_pitch source_slice width height depth at bytes",
    ),
    5: ("record", "I", "event"),
    6: ("wait", "I", "event"),
    7: ("join", "", ""),
    8: ("graph", "I", "launched"),
    9: ("empty", "", ""),
    10: (
        "read",
        "QQQQQQQQQQQ",
        "call_at call_bytes reserved source source_pitch source_slice width height depth at bytes",
    ),
}
LAUNCH = 1
ATTRIBUTE = struct.Struct("<II64s")
NOTHING = 0xFFFFFFFF


@dataclass
class RawCapture:
    """Operations by their names above; the fields of one in its dictionary, with `stream`."""

    streams: list[dict[str, int]] = field(default_factory=list)
    modules: int = 0
    kernels: list[tuple[str, int]] = field(default_factory=list)
    """Name and module."""
    globals: list[dict[str, Any]] = field(default_factory=list)
    relocations: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Operation, offset, global, bytes into it."""
    edges: list[tuple[int, int, tuple[int, ...]]] = field(default_factory=list)
    """From, to, ports and type."""
    operations: list[dict[str, Any]] = field(default_factory=list)
    refusals: list[tuple[int, str, str]] = field(default_factory=list)
    """Operations before it, call, reason."""
    allocations: dict[tuple[int, int], int] = field(default_factory=dict)
    """Flags by address and size."""
    before: dict[int, bytes] = field(default_factory=dict)
    """Pages that are not zero, by address."""
    after: dict[int, bytes] = field(default_factory=dict)
    """Pages that differ, by address."""
    ranges: list[tuple[int, int, int]] = field(default_factory=list)
    """Address, size and role."""
    device: tuple[int, ...] = ()
    """Vendor, driver, compute capability (2), multiprocessors, L2, memory, arena (2)."""
    limits: dict[int, int] = field(default_factory=dict)

    @property
    def steps(self) -> list[tuple[Any, ...]]:
        """Kind and stream of each operation, and the event where there is one."""
        return [(o["kind"], o["stream"]) + ((o["event"],) if "event" in o else ()) for o in self.operations]


def read_raw_captures(folder: Path) -> list[RawCapture]:
    """One a region, in order."""
    paths = sorted(folder.glob("*.nrec"), key=lambda path: int(path.stem.rpartition("-")[2]))
    return [_read(path.read_bytes()) for path in paths]


def _read(raw: bytes) -> RawCapture:
    assert HEADER.unpack_from(raw)[0] == MAGIC
    raw_capture, ended = RawCapture(), False
    for kind, payload in _elements(raw[HEADER.size :]):
        assert not ended
        if kind == STREAM:
            handle, stream, flags, priority = struct.unpack_from("<QIIi", payload)
            raw_capture.streams.append(
                {"handle": handle, "kind": stream, "flags": flags, "priority": priority}
            )
        elif kind == DEVICE:
            raw_capture.device = struct.unpack_from("<6I3Q", payload)
        elif kind == LIMIT:
            limit, value = struct.unpack_from("<I4xQ", payload)
            raw_capture.limits[limit] = value
        elif kind == ALLOCATION:
            address, size, flags = struct.unpack_from("<QQI", payload)
            assert (address, size) not in raw_capture.allocations
            raw_capture.allocations[address, size] = flags
        elif kind in (BEFORE, AFTER):
            _add_run(raw_capture.before if kind == BEFORE else raw_capture.after, payload)
        elif kind == OPERATION:
            raw_capture.operations.append(_operation(payload))
        elif kind == REFUSAL:
            before, _, *spans = struct.unpack_from("<II4Q", payload)
            call, reason = (
                payload[at : at + size].decode() for at, size in zip(spans[::2], spans[1::2], strict=True)
            )
            raw_capture.refusals.append((before, call, reason))
        elif kind == RANGE:
            raw_capture.ranges.append(struct.unpack_from("<QQI", payload))
        elif kind == END:
            status, operations = struct.unpack_from("<II", payload)
            assert (status, operations) == (0, len(raw_capture.operations))
            ended = True
        else:
            _add_code(raw_capture, kind, payload)
    assert ended
    assert all(map(any, raw_capture.before.values()))
    return raw_capture


def _add_code(raw_capture: RawCapture, kind: int, payload: bytes) -> None:
    if kind == MODULE:
        raw_capture.modules += 1
    elif kind == KERNEL:
        at, size = struct.unpack_from("<24xQQ", payload)
        raw_capture.kernels.append((payload[at : at + size].decode(), struct.unpack_from("<I", payload)[0]))
    elif kind == GLOBAL:
        raw_capture.globals.append(_global(payload))
    elif kind == RELOCATION:
        operation, offset, index, delta = struct.unpack_from("<III4xQ", payload)
        raw_capture.relocations.append((operation, offset, index, delta))
    elif kind == EDGE:
        source, to, *rest = struct.unpack_from("<II3B", payload)
        raw_capture.edges.append((source, to, tuple(rest)))


def _elements(raw: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(raw):
        kind, _, size = ELEMENT.unpack_from(raw, at)
        at += ELEMENT.size
        assert size % 8 == 0
        assert at + size <= len(raw)
        yield kind, raw[at : at + size]
        at += size


def _add_run(pages: dict[int, bytes], payload: bytes) -> None:
    """One page may stand for all pages of a run, and no content for zeros."""
    address, size, at, count = struct.unpack_from("<4Q", payload)
    assert address % PAGE == size % PAGE == 0
    assert 0 < size <= BLOB_MAX
    assert count in (0, PAGE, size)
    assert address > max(pages, default=0)
    content = payload[at : at + count] or bytes(PAGE)
    for offset in range(0, size, PAGE):
        begin = offset if count == size else 0
        pages[address + offset] = content[begin : begin + PAGE]


def _global(payload: bytes) -> dict[str, Any]:
    module, address, size, *spans = struct.unpack_from("<I4x8Q", payload)
    name, before, after = (
        payload[at : at + count] for at, count in zip(spans[::2], spans[1::2], strict=True)
    )
    assert len(before) == size
    return {"name": name.decode(), "module": module, "address": address, "before": before, "after": after}


def _operation(payload: bytes) -> dict[str, Any]:
    number, flags, stream, graph = struct.unpack_from("<4I", payload)
    operation: dict[str, Any] = {"stream": stream}
    if flags:
        operation["flags"] = flags
    if graph:
        operation["graph"] = graph
    if number == LAUNCH:
        return operation | _launch(payload)
    name, fields, names = OPERATIONS.get(number, (f"kind {number}", "", ""))
    words = struct.unpack_from("<" + fields, payload, 16)
    operation |= {"kind": name, **dict(zip(names.split(), words, strict=True))}
    if name == "read":
        at, size = operation.pop("call_at"), operation.pop("call_bytes")
        operation["call"] = payload[at : at + size].decode()
    if name in ("upload", "read"):
        at, size = operation.pop("at"), operation.pop("bytes")
        operation["content"] = payload[at : at + size]
        assert len(operation["content"]) == size
    return operation


def _launch(payload: bytes) -> dict[str, Any]:
    kernel, *shape = struct.unpack_from("<I3I3II", payload, 16)
    at, size, attributes_at, attribute_bytes = struct.unpack_from("<4Q", payload, 48)
    attributes = ATTRIBUTE.iter_unpack(payload[attributes_at : attributes_at + attribute_bytes])
    return {
        "kind": "launch",
        "kernel": kernel,
        "grid": tuple(shape[:3]),
        "block": tuple(shape[3:6]),
        "shared": shape[6],
        "parameters": payload[at : at + size],
        "attributes": {number: value for number, _, value in attributes},
    }
