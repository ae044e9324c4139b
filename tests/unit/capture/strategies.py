"""Random captures that are valid: hypothesis draws the elements, `write` makes a file of them."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import strategies as st

from benchguard.capture import CaptureWriter
from benchguard.capture.layout import (
    ARENA,
    NOTHING,
    PAGE,
    AllocationFlag,
    ImageFormat,
    Kind,
    ModuleKind,
    OperationFlag,
    RefusalFlag,
    Role,
    StreamKind,
    Vendor,
)
from benchguard.capture.model import (
    NO_CONTENT,
    Allocation,
    Attribute,
    Device,
    Edge,
    Empty,
    End,
    EventRecord,
    EventWait,
    Global,
    GraphLaunch,
    Image,
    Kernel,
    Launch,
    Limit,
    Memcpy,
    MemcpyDtoH,
    MemcpyHtoD,
    Memset,
    Meta,
    Module,
    Option,
    Parameter,
    Range,
    Refusal,
    Relocation,
    Setting,
    Stream,
    Synchronize,
)

u32 = st.integers(0, 2**32 - 1)
u64 = st.integers(0, 2**64 - 1)
small = st.integers(0, 3)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
symbols = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=30)
raws = st.binary(min_size=1, max_size=100) | st.integers(1, 3).map(lambda n: b"large" * (n * 200_000))
PAGES = 8
GLOBAL = 0x5000_0000


@dataclasses.dataclass(frozen=True)
class Bulk:
    """Stands for a content until it is written."""

    raw: bytes


Elements = dict[Kind, list[Any]]


@st.composite
def captures(draw: st.DrawFn) -> Elements:
    """Elements by kind, contents as Bulk. BEFORE and AFTER: (address, bytes or None, size)."""
    by_name: Elements = {
        Kind.DEVICE: [draw(_devices)],
        Kind.LIMIT: draw(st.lists(st.builds(Limit, u32, u64), max_size=3)),
        Kind.META: draw(st.lists(st.builds(Meta, texts, texts), max_size=3)),
        Kind.IMAGE: [
            _image(*each) for each in draw(st.lists(st.tuples(raws, texts), min_size=1, max_size=3))
        ],
        Kind.STREAM: [Stream(0, StreamKind.LEGACY), *draw(st.lists(_streams, max_size=2))],
    }
    images = st.integers(0, len(by_name[Kind.IMAGE]) - 1)
    options = st.lists(st.builds(Option, u32, u64), max_size=3).map(tuple)
    modules = st.builds(Module, images, st.sampled_from(ModuleKind), options)
    by_name[Kind.MODULE] = draw(st.lists(modules, min_size=1, max_size=3))
    module = st.integers(0, len(by_name[Kind.MODULE]) - 1)
    by_name[Kind.KERNEL] = draw(st.lists(_kernels(module), min_size=1, max_size=3))
    names = draw(st.lists(symbols, min_size=2, max_size=2, unique=True))
    by_name[Kind.GLOBAL] = [
        Global(draw(module), GLOBAL + (i << 24), len(raw), name, Bulk(raw), draw(_or_none(raw)))
        for i, (raw, name) in enumerate(zip(draw(st.lists(raws, max_size=2)), names, strict=False))
    ]
    by_name[Kind.ALLOCATION] = [
        Allocation(ARENA + 2 * i * PAGES * PAGE, PAGES * PAGE, draw(_flags), draw(texts)) for i in range(2)
    ]
    by_name[Kind.BEFORE] = draw(_runs(False))
    by_name[Kind.AFTER] = draw(_runs(True))
    _draw_operations(draw, by_name)
    by_name[Kind.RANGE] = draw(st.lists(_ranges, max_size=3))
    count = len(by_name[Kind.OPERATION])
    by_name[Kind.REFUSAL] = draw(
        st.lists(st.builds(Refusal, st.integers(0, count), texts, texts, _refusal_flags), max_size=2)
    )
    by_name[Kind.END] = [End(draw(u32), count)]
    return by_name


def write(path: Path, found: Elements) -> Elements:
    """Write the capture; returns what it is to hold."""
    expected: Elements = {kind: [] for kind in found}
    with CaptureWriter(path) as writer:
        for kind, elements in found.items():
            for element in elements:
                if kind in {Kind.BEFORE, Kind.AFTER}:
                    writer.add_run(kind, *element)
                    expected[kind].append(element)
                    continue
                contents = {
                    name: writer.content(value.raw)
                    for name in element.__struct_fields__
                    if isinstance(value := getattr(element, name), Bulk)
                }
                expected[kind].append(msgspec.structs.replace(element, **contents))
                writer.add(expected[kind][-1])
    return expected


_flags = st.integers(0, 3).map(AllocationFlag)
_refusal_flags = st.integers(0, 3).map(RefusalFlag)
_devices = st.builds(
    Device,
    st.sampled_from(Vendor),
    *[u32] * 5,
    u64,
    st.just(ARENA),
    st.integers(0, 2**40),
    st.binary(min_size=16, max_size=16).map(bytes.hex),
    texts,
)
_streams = st.builds(Stream, u64, st.sampled_from(StreamKind), u32, st.integers(-(2**31), 2**31 - 1))
_addresses = st.integers(0, 1).flatmap(
    lambda i: st.integers(0, PAGES * PAGE - 64).map(lambda at: ARENA + 2 * i * PAGES * PAGE + at)
)
_ranges = st.builds(
    Range,
    _addresses,
    st.integers(0, 64),
    st.sampled_from(Role),
    texts,
    texts,
    st.lists(u64, max_size=4).map(tuple),
)


def _or_none(raw: bytes) -> st.SearchStrategy[Any]:
    return st.sampled_from([NO_CONTENT, Bulk(raw[::-1])])


def _image(raw: bytes, origin: str) -> Image:
    digest = hashlib.sha256(raw).hexdigest()
    return Image(digest, ImageFormat.ELF, origin, Bulk(raw))  # type: ignore[arg-type]


@st.composite
def _kernels(draw: st.DrawFn, module: st.SearchStrategy[int]) -> Kernel:
    sizes = draw(st.lists(st.integers(1, 100), max_size=4))
    layout = tuple(Parameter(sum(sizes[:i]), size) for i, size in enumerate(sizes))
    settings = st.lists(st.builds(Setting, u32, st.integers(-(2**31), 2**31 - 1)), max_size=3).map(tuple)
    numbers = [draw(u32) for _ in range(4)]
    return Kernel(draw(module), sum(sizes), *numbers, draw(symbols), layout, draw(settings))


@st.composite
def _runs(draw: st.DrawFn, after: bool) -> list[tuple[int, bytes | None, int]]:
    pages = draw(st.sets(st.integers(0, PAGES - 1)))
    results = []
    for page in sorted(pages):
        size = draw(st.integers(1, PAGE))
        raw = None if after and draw(st.booleans()) else draw(st.binary(min_size=1, max_size=1)) * size
        results.append((ARENA + page * PAGE, raw, size))
    return results


def _draw_operations(draw: st.DrawFn, found: Elements) -> None:
    """Nodes of graphs first, then steps: both may stand anywhere, but an event's wait follows its record."""
    operations: list[Any] = []
    graphs = draw(st.integers(0, 2))
    for graph in range(1, graphs + 1):
        for _ in range(draw(st.integers(1, 3))):
            operations.append(draw(_work(found, NOTHING, graph) | st.just(Empty(graph))))
    stream = draw(st.integers(0, len(found[Kind.STREAM]) - 1))
    recorded = 0
    for _ in range(draw(st.integers(graphs, 5))):
        steps = [_work(found, stream, 0), st.just(Synchronize(NOTHING)), st.just(Synchronize(stream))]
        if graphs:
            steps.append(st.builds(GraphLaunch, st.just(stream), st.integers(1, graphs)))
        if operations:
            steps.append(st.builds(EventRecord, st.just(stream), st.just(recorded), u32))
        if recorded:
            steps.append(st.builds(EventWait, st.just(stream), st.integers(0, recorded - 1), u32))
        operations.append(draw(st.one_of(steps)))
        recorded += isinstance(operations[-1], EventRecord)
    found[Kind.OPERATION] = operations
    pairs = [
        (i, j)
        for i, one in enumerate(operations)
        for j, other in enumerate(operations)
        if i < j and one.graph and one.graph == other.graph
    ]
    found[Kind.EDGE] = [
        Edge(i, j, *draw(st.tuples(small, small, small))) for i, j in pairs if draw(st.booleans())
    ]
    found[Kind.RELOCATION] = [
        Relocation(i, draw(st.integers(0, len(each.parameters) - 8)), j, draw(st.integers(0, target.bytes)))
        for i, each in enumerate(operations)
        for j, target in enumerate(found[Kind.GLOBAL])
        if isinstance(each, Launch) and len(each.parameters) >= 8
    ]


@st.composite
def _work(draw: st.DrawFn, found: Elements, stream: int, graph: int) -> Any:
    switched_off = OperationFlag(draw(st.sampled_from([0, 2]))) if graph else OperationFlag(0)
    common: dict[str, Any] = {"graph": graph, "flags": switched_off}
    kind = draw(st.sampled_from(["launch", "set", "copy", "upload", *([] if graph else ["read"])]))
    if kind == "launch":
        kernel = draw(st.integers(0, len(found[Kind.KERNEL]) - 1))
        size = found[Kind.KERNEL][kernel].parameter_bytes
        values = st.binary(min_size=64, max_size=64)
        attributes = draw(st.lists(st.builds(Attribute, u32, values), max_size=2).map(tuple))
        shape = draw(st.tuples(*[st.integers(1, 8)] * 3)), draw(st.tuples(*[st.integers(1, 8)] * 3))
        parameters = draw(st.binary(min_size=size, max_size=size + 8))
        return Launch(stream, kernel, *shape, draw(st.integers(0, 1 << 20)), parameters, attributes, **common)
    at, width, height, depth = draw(_addresses), draw(small), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    pitch, plane = 3, 3 * (height - 1) + 3
    if kind == "set":
        return Memset(
            stream,
            at,
            12,
            width,
            height,
            draw(st.integers(0, 255)),
            draw(st.sampled_from([1, 2, 4])),
            **common,
        )
    if kind == "copy":
        source = draw(_addresses)
        return Memcpy(stream, at, pitch, plane, source, pitch, plane, width, height, depth, **common)
    raw = draw(st.binary(min_size=width * height * depth, max_size=width * height * depth))
    if kind == "read":
        rows = width, height, depth
        return MemcpyDtoH(stream, draw(texts), at, pitch, plane, *rows, Bulk(raw), **common)  # type: ignore[arg-type]
    return MemcpyHtoD(stream, at, pitch, plane, width, height, depth, Bulk(raw), **common)  # type: ignore[arg-type]
