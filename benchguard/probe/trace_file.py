"""A trace: the maps of one launch (docs/formats.md)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from struct import Struct

import msgspec

from benchguard.errors import UsageError

from ..ipc.json_text import UNREADABLE

TRACES = "traces.jsonl"
HEADER = Struct("<8I")  # grid, block, shared bytes, number of maps
SECTION = Struct("<IIQ")  # bytes of an item, threads that share one (0: all of the launch), position
FILE_BYTES_MAX = 4 << 30
MAPS_MAX = 16


class TraceLine(msgspec.Struct, frozen=True):
    """A line of traces.jsonl. `file` and `folder` are below the folder of the line's file."""

    file: str
    kernel: str
    folder: str
    process: int
    time_ns: int
    stream: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int


@dataclass(frozen=True)
class Trace:
    """The maps of a launch, in the order of kernel.info."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    maps: tuple[bytes, ...]


def read_trace(path: Path) -> Trace:
    """Read a file of the folder `result`.

    Raises:
        UsageError: The file cannot be read, or is not a trace.
    """
    try:
        if path.stat().st_size > FILE_BYTES_MAX:
            raise UsageError(f"{path} has more than {FILE_BYTES_MAX} bytes")
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    if len(data) < HEADER.size:
        raise UsageError(f"{path} is not a trace: it has {len(data)} bytes")
    *shape, shared, count = HEADER.unpack_from(data)
    if count > MAPS_MAX or HEADER.size + count * SECTION.size > len(data):
        raise UsageError(f"{path} is not a trace: it names {count} maps")
    places = [SECTION.unpack_from(data, HEADER.size + index * SECTION.size)[2] for index in range(count)]
    ends = [*places[1:], len(data)]
    first = HEADER.size + count * SECTION.size
    if any(not first <= begin <= end <= len(data) for begin, end in zip(places, ends, strict=False)):
        raise UsageError(f"{path} is not a trace: its maps overlap or exceed it")
    maps = tuple(data[begin:end] for begin, end in zip(places, ends, strict=False))
    return Trace((shape[0], shape[1], shape[2]), (shape[3], shape[4], shape[5]), shared, maps)


def read_traces(folder: Path) -> Iterator[tuple[TraceLine, Trace]]:
    """The traces of a folder that `neutrino-bench probe` wrote, in their order; none if it has none.

    Raises:
        UsageError: A line or a file cannot be read.
    """
    index = folder / TRACES
    if not index.exists():
        return
    with index.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                entry = msgspec.json.decode(line, type=TraceLine)
            except UNREADABLE as error:
                raise UsageError(f"{index}, line {number}: {error}") from None
            yield entry, read_trace(folder / entry.file)
