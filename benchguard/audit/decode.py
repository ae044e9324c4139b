"""Decode the bytes of a trace ring. A hostile process may have written them, so each length is checked before use."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import TypeAlias

import msgspec

from . import layout
from .layout import RecordKind

_WORD = Struct("<Q")
_TIMED = int(layout.LaunchFlag.TIMED)
REPEATS_MAX = 1 << 48
"""A thread that asks every nanosecond needs three days for so many calls, and a record is written each tenth second."""


class CorruptRingError(Exception):
    """A trace ring holds bytes that no shim writes. The rest of the ring is not read."""


class Record(msgspec.Struct, frozen=True, gc=False):
    """Times are counter ticks; `slot` is a position in surface.json's exports."""

    slot: int
    begin: int
    end: int
    result: int


class Call(Record, frozen=True, gc=False):
    arguments: tuple[int, ...]


class Repeated(Call, frozen=True, gc=False):
    """Calls that equal the call before them; `begin` of the first to `end` of the last."""

    repeats: int


class Launch(Record, frozen=True, gc=False):
    kernel: int
    stream: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    flags: int
    parameter_bytes: int
    attributes: tuple[tuple[int, bytes], ...]
    parameters: bytes
    number: int = 0
    """By which the record of the launch's GPU time names it; 0: it is not timed."""


class Image(Record, frozen=True, gc=False):
    image: int
    handle: int
    bytes: int
    stored_at: int
    format: int
    stored: bool
    origin: str
    note: str


class Kernel(Record, frozen=True, gc=False):
    kernel: int
    handle: int
    image: int
    registers: int
    static_shared_bytes: int
    local_bytes: int
    constant_bytes: int
    max_threads: int
    binary_version: int
    layout_source: int
    layout: tuple[tuple[int, int], ...]
    name: str


class Process(Record, frozen=True, gc=False):
    process: int
    parent: int
    pairs: tuple[tuple[int, int], tuple[int, int]]
    executable: str
    driver: str


class Clock(Record, frozen=True, gc=False):
    nanoseconds: int


class Unmapped(Record, frozen=True, gc=False):
    name: str
    asked_version: int
    flags: int


class Graph(Record, frozen=True, gc=False):
    graph: int
    handle: int
    nodes: int
    opaque: int
    kernels: int


class GraphNode(Record, frozen=True, gc=False):
    graph: int
    position: int
    kernel: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    flags: int
    parameter_bytes: int
    parameters: bytes


class GraphLaunch(Record, frozen=True, gc=False):
    graph: int
    stream: int
    number: int = 0


class LaunchTime(Record, frozen=True, gc=False):
    """GPU time of the launch `number` of thread `thread`; `kernel` is 0 for a graph."""

    number: int
    kernel: int
    graph: int
    stream: int
    nanoseconds: int
    thread: int
    is_early: bool


class Note(Record, frozen=True, gc=False):
    text: str


class PhaseMark(Record, frozen=True, gc=False):
    phase: int
    source: int
    label: str
    origin: str


class Decision(Record, frozen=True, gc=False):
    rule: int
    action: int
    phase: int
    arguments: tuple[int, ...]
    origin: str
    kernel: str
    image: str | None


class Probe(Record, frozen=True, gc=False):
    """`at` of a decision is the answer's state; else `at` and `bytes` are a range (hook/core/wire/probe.h)."""

    kernel: int
    at: int
    bytes: int
    stream: int
    stage: int
    answer: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    table_bytes: int
    text: str


# A record's bytes, its end, and the four common fields; the count of its header.
_Common: TypeAlias = tuple[int, int, int, int]
_Decoder: TypeAlias = Callable[[bytes, int, int, _Common, int], Record]


def _fits(at: int, length: int, end: int, what: str) -> int:
    """The end of `length` bytes from `at`, which must be inside the record."""
    if length > end - at:
        raise CorruptRingError(f"{what} of {length} bytes in a record with {end - at} left")
    return at + length


def _text(data: bytes, at: int, length: int, end: int, what: str) -> str:
    if length > layout.STRING_MAX:
        raise CorruptRingError(f"{what} of {length} bytes")
    return data[at : _fits(at, length, end, what)].decode("utf-8", "backslashreplace")


def _arguments(data: bytes, at: int, end: int, count: int) -> tuple[int, ...]:
    if count > layout.ARGUMENTS_MAX:
        raise CorruptRingError(f"{count} arguments in one call")
    _fits(at, 8 * count, end, "arguments")
    return tuple(word for (word,) in _WORD.iter_unpack(data[at : at + 8 * count]))


def _call(data: bytes, at: int, end: int, common: _Common, count: int) -> Record:
    return Call(*common, _arguments(data, at, end, count))


def _repeated(data: bytes, at: int, end: int, common: _Common, count: int) -> Record:
    body = _fits(at, layout.REPEATED.size, end, "repeated call")
    (repeats,) = layout.REPEATED.unpack_from(data, at)
    if not 0 < repeats <= REPEATS_MAX:
        raise CorruptRingError(f"{repeats} repeated calls")
    return Repeated(*common, _arguments(data, body, end, count), repeats)


def _launch(data: bytes, at: int, end: int, common: _Common, count: int) -> Record:
    body = _fits(at, layout.LAUNCH.size, end, "launch")
    kernel, stream, gx, gy, gz, bx, by, bz, shared, flags, total, stored = layout.LAUNCH.unpack_from(data, at)
    if count > layout.ATTRIBUTES_MAX or stored > layout.PARAMETERS_MAX or stored > total:
        raise CorruptRingError(f"launch with {count} attributes and {stored} of {total} bytes of parameters")
    after = _fits(body, count * layout.ATTRIBUTE.size, end, "launch attributes")
    attributes = tuple(layout.ATTRIBUTE.iter_unpack(data[body:after])) if count else ()
    kept_end = _fits(after, stored, end, "parameters")
    number = _number(data, kept_end, end) if flags & _TIMED else 0
    return Launch(
        *common,
        kernel,
        stream,
        (gx, gy, gz),
        (bx, by, bz),
        shared,
        flags,
        total,
        attributes,
        data[after:kept_end],
        number,
    )


def _number(data: bytes, at: int, end: int) -> int:
    """The last word of a timed launch's record, which is behind what precedes it."""
    _fits(at, _WORD.size, end, "number of a launch")
    return int(_WORD.unpack_from(data, end - _WORD.size)[0])


def _image(data: bytes, at: int, end: int, common: _Common, _: int) -> Record:
    body = _fits(at, layout.IMAGE.size, end, "image")
    number, handle, size, stored_at, format_, stored, origin, note = layout.IMAGE.unpack_from(data, at)
    return Image(
        *common,
        number,
        handle,
        size,
        stored_at,
        format_,
        stored == 1,
        _text(data, body, origin, end, "origin"),
        _text(data, body + origin, note, end, "note"),
    )


def _kernel(data: bytes, at: int, end: int, common: _Common, count: int) -> Record:
    body = _fits(at, layout.KERNEL.size, end, "kernel")
    number, handle, image, registers, shared, local, constant, threads, binary, source, name = (
        layout.KERNEL.unpack_from(data, at)
    )
    after = _fits(body, count * layout.PARAMETER.size, end, "parameter layout")
    return Kernel(
        *common,
        kernel=number,
        handle=handle,
        image=image,
        registers=registers,
        static_shared_bytes=shared,
        local_bytes=local,
        constant_bytes=constant,
        max_threads=threads,
        binary_version=binary,
        layout_source=source,
        layout=tuple(layout.PARAMETER.iter_unpack(data[body:after])),
        name=_text(data, after, name, end, "kernel name"),
    )


def _process(data: bytes, at: int, end: int, common: _Common, _: int) -> Record:
    body = _fits(at, layout.PROCESS.size, end, "process")
    process, parent, tsc, ns, last_tsc, last_ns, executable, driver = layout.PROCESS.unpack_from(data, at)
    return Process(
        *common,
        process,
        parent,
        ((tsc, ns), (last_tsc, last_ns)),
        _text(data, body, executable, end, "executable"),
        _text(data, body + executable, driver, end, "driver"),
    )


def _clock(data: bytes, at: int, end: int, common: _Common, _: int) -> Record:
    _fits(at, _WORD.size, end, "clock")
    return Clock(*common, *_WORD.unpack_from(data, at))


def _unmapped(data: bytes, at: int, end: int, common: _Common, count: int) -> Record:
    body = _fits(at, layout.UNMAPPED.size, end, "unmapped entry point")
    flags, version = layout.UNMAPPED.unpack_from(data, at)
    return Unmapped(*common, _text(data, body, count, end, "name"), version, flags)


def _graph(data: bytes, at: int, end: int, common: _Common, count: int) -> Record:
    _fits(at, layout.GRAPH.size, end, "graph")
    graph, handle, nodes, opaque = layout.GRAPH.unpack_from(data, at)
    return Graph(*common, graph, handle, nodes, opaque, count)


def _graph_node(data: bytes, at: int, end: int, common: _Common, count: int) -> Record:
    body = _fits(at, layout.GRAPH_NODE.size, end, "graph node")
    graph, kernel, gx, gy, gz, bx, by, bz, shared, flags, total, stored = layout.GRAPH_NODE.unpack_from(
        data, at
    )
    if stored > layout.PARAMETERS_MAX or stored > total:
        raise CorruptRingError(f"graph node with {stored} of {total} bytes of parameters")
    parameters = data[body : _fits(body, stored, end, "parameters")]
    return GraphNode(
        *common, graph, count, kernel, (gx, gy, gz), (bx, by, bz), shared, flags, total, parameters
    )


def _graph_launch(data: bytes, at: int, end: int, common: _Common, count: int) -> Record:
    body = _fits(at, layout.GRAPH_LAUNCH.size, end, "graph launch")
    number = _number(data, body, end) if count else 0
    graph, stream = layout.GRAPH_LAUNCH.unpack_from(data, at)
    return GraphLaunch(*common, graph, stream, number)


def _launch_time(data: bytes, at: int, end: int, common: _Common, count: int) -> Record:
    _fits(at, layout.LAUNCH_TIME.size, end, "GPU time")
    number, kernel, graph, stream, nanoseconds, thread = layout.LAUNCH_TIME.unpack_from(data, at)
    return LaunchTime(*common, number, kernel, graph, stream, nanoseconds, thread, count != 0)


def _note(data: bytes, at: int, end: int, common: _Common, count: int) -> Record:
    return Note(*common, _text(data, at, count, end, "note"))


def _phase(data: bytes, at: int, end: int, common: _Common, count: int) -> Record:
    body = _fits(at, layout.PHASE_MARK.size, end, "phase mark")
    phase, source, origin = layout.PHASE_MARK.unpack_from(data, at)
    return PhaseMark(
        *common,
        phase,
        source,
        _text(data, body, count, end, "label"),
        _text(data, body + count, origin, end, "origin"),
    )


def _decision(data: bytes, at: int, end: int, common: _Common, count: int) -> Record:
    body = _fits(at, layout.DECISION.size, end, "decision")
    rule, action, phase, origin, kernel, has_image, image = layout.DECISION.unpack_from(data, at)
    if count > layout.ARGUMENTS_MAX:
        raise CorruptRingError(f"{count} arguments in one decision")
    after = _fits(body, 8 * count, end, "arguments")
    return Decision(
        *common,
        rule,
        action,
        phase,
        tuple(word for (word,) in _WORD.iter_unpack(data[body:after])),
        _text(data, after, origin, end, "origin"),
        _text(data, after + origin, kernel, end, "kernel name"),
        image.hex() if has_image else None,
    )


def _probe(data: bytes, at: int, end: int, common: _Common, count: int) -> Record:
    body = _fits(at, layout.PROBE.size, end, "probe")
    kernel, place, size, stream, stage, answer, *shape = layout.PROBE.unpack_from(data, at)
    grid, block = (shape[0], shape[1], shape[2]), (shape[3], shape[4], shape[5])
    text = _text(data, body, count, end, "text")
    return Probe(*common, kernel, place, size, stream, stage, answer, grid, block, shape[6], shape[7], text)


_DECODERS: dict[int, _Decoder] = {
    RecordKind.CALL: _call,
    RecordKind.LAUNCH: _launch,
    RecordKind.IMAGE: _image,
    RecordKind.KERNEL: _kernel,
    RecordKind.PROCESS: _process,
    RecordKind.CLOCK: _clock,
    RecordKind.UNMAPPED: _unmapped,
    RecordKind.GRAPH: _graph,
    RecordKind.GRAPH_NODE: _graph_node,
    RecordKind.GRAPH_LAUNCH: _graph_launch,
    RecordKind.NOTE: _note,
    RecordKind.PHASE: _phase,
    RecordKind.DECISION: _decision,
    RecordKind.REPEATED: _repeated,
    RecordKind.PROBE: _probe,
    RecordKind.LAUNCH_TIME: _launch_time,
}


def decode(data: bytes, slot_count: int) -> tuple[list[Record], str | None]:
    """The records of a chunk, which begins and ends at a record, and the reason why the rest is invalid, if it is."""
    records: list[Record] = []
    unpack, header_size = layout.RECORD.unpack_from, layout.RECORD.size
    at, total = 0, len(data)
    try:
        while at < total:
            if total - at < header_size:
                raise CorruptRingError(f"{total - at} bytes left of a record")
            size, kind, slot, begin, end, result, count = unpack(data, at)
            if size < header_size or size > layout.RECORD_MAX or size % 8 or size > total - at:
                raise CorruptRingError(f"record of {size} bytes with {total - at} left")
            decoder = _DECODERS.get(kind)
            if decoder is None or slot >= slot_count:
                raise CorruptRingError(f"record of kind {kind} for export {slot} of {slot_count}")
            records.append(decoder(data, at + header_size, at + size, (slot, begin, end, result), count))
            at += size
    except CorruptRingError as error:
        return records, str(error)
    return records, None
