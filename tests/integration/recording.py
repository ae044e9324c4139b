"""A recording as plain dictionaries, by capture_format.h alone: what the shim wrote, seen without the packer."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HEADER = struct.Struct("<QIIII")
ELEMENT = struct.Struct("<IIQ")
MAGIC = int.from_bytes(b"NBRECORD", "little")
DEVICE, LIMIT, ALLOCATION, BEFORE, AFTER = 2, 3, 8, 9, 10
IMAGE, MODULE, KERNEL, STREAM, OPERATION = 4, 5, 6, 11, 12
REFUSAL, RANGE, META, END = 15, 16, 17, 18
PAGE, BLOB_MAX = 4096, 1 << 20
OPERATIONS = {
    1: (
        "launch",
        "IIIIIIIIQQQQ",
        "kernel grid_x grid_y grid_z block_x block_y block_z shared at bytes attributes_at attributes_bytes",
    ),
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
}
NOTHING = 0xFFFFFFFF


@dataclass
class Recording:
    """Operations by their names above; the fields of one in its dictionary, with `stream`."""

    streams: list[dict[str, int]] = field(default_factory=list)
    operations: list[dict[str, Any]] = field(default_factory=list)
    refusals: list[tuple[int, str, str]] = field(default_factory=list)
    """Operations before it, call, reason."""
    allocations: dict[tuple[int, int], int] = field(default_factory=dict)
    """Flags by address and size."""
    before: dict[int, bytes] = field(default_factory=dict)
    after: dict[int, bytes] = field(default_factory=dict)
    """Pages that are not zero, by address."""
    device: tuple[int, ...] = ()
    """Vendor, driver, compute capability (2), multiprocessors, L2, memory, arena (2)."""
    limits: dict[int, int] = field(default_factory=dict)
    images: list[bytes] = field(default_factory=list)
    modules: list[dict[str, Any]] = field(default_factory=list)
    """Image, kind, options as pairs."""
    kernels: list[dict[str, Any]] = field(default_factory=list)
    ranges: list[tuple[Any, ...]] = field(default_factory=list)
    """Name, role, address, bytes, type, shape."""
    meta: dict[str, str] = field(default_factory=dict)
    ended: bool = False

    @property
    def steps(self) -> list[tuple[Any, ...]]:
        """Kind and stream of each operation, and the event where there is one."""
        return [(o["kind"], o["stream"]) + ((o["event"],) if "event" in o else ()) for o in self.operations]


def read_recordings(folder: Path) -> list[Recording]:
    """One a region, in order."""
    paths = sorted(folder.glob("*.nrec"), key=lambda path: int(path.stem.rpartition("-")[2]))
    recordings = [read_recording(path) for path in paths]
    assert all(recording.ended for recording in recordings)
    return recordings


def read_recording(path: Path) -> Recording:
    """It may have no end."""
    raw = path.read_bytes()
    assert HEADER.unpack_from(raw)[0] == MAGIC
    recording = Recording()
    for kind, payload in _elements(raw[HEADER.size :]):
        assert not recording.ended
        _add(recording, kind, payload)
    return recording


def _add(recording: Recording, kind: int, payload: bytes) -> None:
    if kind == STREAM:
        handle, stream, flags, priority = struct.unpack_from("<QIIi", payload)
        recording.streams.append({"handle": handle, "kind": stream, "flags": flags, "priority": priority})
    elif kind == DEVICE:
        recording.device = struct.unpack_from("<6I3Q", payload)
    elif kind == LIMIT:
        limit, value = struct.unpack_from("<I4xQ", payload)
        recording.limits[limit] = value
    elif kind == ALLOCATION:
        address, size, flags = struct.unpack_from("<QQI", payload)
        assert (address, size) not in recording.allocations
        recording.allocations[address, size] = flags
    elif kind in (BEFORE, AFTER):
        _add_run(recording.before if kind == BEFORE else recording.after, payload)
    elif kind == OPERATION:
        recording.operations.append(_operation(payload))
    elif kind == REFUSAL:
        before, _, *spans = struct.unpack_from("<II4Q", payload)
        recording.refusals.append((before, _text(payload, spans[:2]), _text(payload, spans[2:])))
    elif kind in (IMAGE, MODULE, KERNEL):
        _add_code(recording, kind, payload)
    elif kind == RANGE:
        address, size, role, _, *spans = struct.unpack_from("<QQII6Q", payload)
        shape = tuple(number for (number,) in struct.iter_unpack("<Q", _bytes(payload, spans[4:])))
        name, type_ = _text(payload, spans[:2]), _text(payload, spans[2:4])
        recording.ranges.append((name, role, address, size, type_, shape))
    elif kind == META:
        spans = struct.unpack_from("<4Q", payload)
        recording.meta[_text(payload, spans[:2])] = _text(payload, spans[2:])
    elif kind == END:
        assert struct.unpack_from("<II", payload) == (0, len(recording.operations))
        recording.ended = True


def _add_code(recording: Recording, kind: int, payload: bytes) -> None:
    if kind == IMAGE:
        recording.images.append(_bytes(payload, struct.unpack_from("<QQ", payload, 56)))
    elif kind == MODULE:
        image, module_kind, *span = struct.unpack_from("<IIQQ", payload)
        recording.modules.append(
            {"image": image, "kind": module_kind, "options": _pairs(payload, span, "<I4xQ")}
        )
    elif kind == KERNEL:
        recording.kernels.append(_kernel(payload))


def _kernel(payload: bytes) -> dict[str, Any]:
    fields = ("module", "parameter_bytes", "registers", "static_shared", "local", "max_threads")
    numbers = struct.unpack_from("<6I6Q", payload)
    name, layout, settings = numbers[6:8], numbers[8:10], numbers[10:12]
    return {
        **dict(zip(fields, numbers, strict=False)),
        "name": _text(payload, name),
        "layout": _pairs(payload, layout, "<II"),
        "settings": _pairs(payload, settings, "<Ii"),
    }


def _bytes(payload: bytes, span: Sequence[int]) -> bytes:
    at, size = span
    assert at + size <= len(payload)
    return payload[at : at + size]


def _text(payload: bytes, span: Sequence[int]) -> str:
    return _bytes(payload, span).decode()


def _pairs(payload: bytes, span: Sequence[int], form: str) -> list[tuple[Any, ...]]:
    return list(struct.iter_unpack(form, _bytes(payload, span)))


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
    address, size, at, count = struct.unpack_from("<4Q", payload)
    assert address % PAGE == size % PAGE == 0
    assert 0 < size == count <= BLOB_MAX
    assert address > max(pages, default=0)
    for offset in range(0, size, PAGE):
        pages[address + offset] = payload[at + offset : at + offset + PAGE]
        assert any(pages[address + offset])


def _operation(payload: bytes) -> dict[str, Any]:
    number, flags, stream, graph = struct.unpack_from("<4I", payload)
    assert graph == 0
    name, fields, names = OPERATIONS.get(number, (f"kind {number}", "", ""))
    words = struct.unpack_from("<" + fields, payload, 16)
    operation: dict[str, Any] = {
        "kind": name,
        "stream": stream,
        **dict(zip(names.split(), words, strict=True)),
    }
    assert name == "launch" or flags == 0
    if name == "upload":
        operation["content"] = _bytes(payload, (operation.pop("at"), operation.pop("bytes")))
    elif name == "launch":
        operation["flags"] = flags
        operation["parameters"] = _bytes(payload, (operation.pop("at"), operation.pop("bytes")))
        span = operation.pop("attributes_at"), operation.pop("attributes_bytes")
        operation["attributes"] = _pairs(payload, span, "<I4x64s")
    return operation
