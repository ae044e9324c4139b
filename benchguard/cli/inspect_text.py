"""A capture as tables. The captured program chose the text in it, so unprintable characters are escaped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import TextIO

from ..audit.kernel_name import display_name
from ..capture.layout import NOTHING, OperationFlag, Vendor
from ..capture.model import (
    Device,
    EventRecord,
    EventWait,
    GraphLaunch,
    Launch,
    Memcpy,
    MemcpyDtoH,
    MemcpyHtoD,
    Memset,
    Operation,
)
from ..capture.overview import Overview
from ..units import size_text
from .table import Column, console_for, print_lines, table

ROWS_MAX = 20
TARGETS_MAX = 4
SHORT = 12  # digits of a SHA-256 that tables show


def render(view: Overview, output: TextIO, memory: bool, operations: Iterable[Operation] | None) -> None:
    """Print the tables: all allocations and globals if `memory`, and operations if given."""
    console = console_for(output)

    def show(title: str, columns: Sequence[Column], rows: list[list[str]], most: int = ROWS_MAX) -> None:
        if rows:
            cells = rows[:most]
            if len(rows) > most:
                cells.append([f"... {len(rows) - most} more", *[""] * (len(columns) - 1)])
            console.print(table(title, columns, cells, console.width, output.isatty()))

    print_lines(console, _head(view))
    show("kernels", _KERNELS, list(_kernels(view)))
    columns = _IMAGES if not any(each.code for each in view.images) else (*_IMAGES, _TARGETS)
    show("images", columns, [row[: len(columns)] for row in _images(view)])
    show("streams", _STREAMS, list(_streams(view)))
    show("graphs", _GRAPHS, [list(map(str, (g.graph, g.nodes, g.edges, g.launches))) for g in view.graphs])
    show("named memory", _RANGES, list(_ranges(view)))
    every = len(view.allocations) + len(view.globals)
    show("allocations", _ALLOCATIONS, list(_allocations(view)), every if memory else ROWS_MAX)
    show("globals", _GLOBALS, list(_globals(view)), every if memory else ROWS_MAX)
    if operations is not None:
        names = [display_name(each.demangled or each.name) for each in view.kernels]
        rows = [_operation(index, each, names) for index, each in enumerate(operations)]
        show("operations", _OPERATIONS, rows, len(rows))
    print_lines(console, _foot(view))


def driver_text(device: Device) -> str:
    """The driver version in its vendor's form: CUDA 12.9, HIP 5.2.21153."""
    version = device.driver_version
    if device.vendor is Vendor.HIP:
        return f"HIP {version // 10_000_000}.{version // 100_000 % 100}.{version % 100_000}"
    return f"CUDA {version // 1000}.{version % 1000 // 10}"


def _head(view: Overview) -> Iterator[str]:
    device, meta = view.device, view.meta
    region = f"region {meta['region']}" if meta.get("region") else "a region"
    yield f"{view.path}: {region} of {meta.get('program') or 'a program'}"
    yield f"capture {view.name}, recorded {meta.get('started', 'at an unknown time')}"
    yield (
        f"device: {device.name}, compute {device.compute_major}.{device.compute_minor}, "
        f"{device.multiprocessors} multiprocessors, {size_text(device.memory_bytes)}; driver of {driver_text(device)}"
    )
    steps = [f"{count} {kind.replace('_', ' ')}" for kind, count in view.operations.items()]
    yield f"operations: {', '.join(steps) or 'none'}"


def _foot(view: Overview) -> Iterator[str]:
    sizes = view.sizes
    is_unknown = any(each.changed_bytes is None for each in view.allocations)
    changed = "changes unknown" if is_unknown else f"{size_text(sizes.changed_bytes)} changed"
    allocated, stored = size_text(sizes.allocated_bytes), size_text(sizes.kept_bytes)
    yield f"memory: {allocated} allocated, {stored} stored, {changed}"
    yield f"size: {size_text(sizes.file_bytes)} in the file, {size_text(sizes.raw_bytes)} raw, {sizes.blobs} blobs"
    for image in view.images:
        for problem in filter(None, (image.problem, *(code.problem for code in image.code))):
            yield f"image {image.sha256[:SHORT]}: {problem}"
    for refusal in view.refusals[:ROWS_MAX]:
        after = f"after operation {refusal.operation - 1}" if refusal.operation else "before any operation"
        what = "may fail in a replay" if refusal.is_doubt else "cannot be replayed"
        yield f"{what}: {refusal.call or 'the program'}, {after}: {refusal.reason}"
    if len(view.refusals) > ROWS_MAX:
        yield f"cannot be replayed, or may fail: {len(view.refusals) - ROWS_MAX} more reasons"
    if view.status:
        yield f"the region ended with driver error {view.status}"


_KERNELS = (
    Column("kernel", rest=True),
    Column("launches", right=True),
    Column("by graphs", right=True),
    Column("grid"),
    Column("block"),
    Column("registers", right=True),
    Column("shared", right=True),
    Column("image"),
)


def _kernels(view: Overview) -> Iterator[list[str]]:
    for each in view.kernels:
        more = f" +{each.shapes - 1}" if each.shapes > 1 else ""
        yield [
            display_name(each.demangled or each.name),
            str(each.launches),
            str(each.graph_launches),
            "x".join(map(str, each.grid)) + more,
            "x".join(map(str, each.block)),
            str(each.registers),
            str(each.static_shared_bytes + each.shared_bytes),
            each.image[:SHORT],
        ]


_IMAGES = (
    Column("image"),
    Column("format"),
    Column("size", right=True),
    Column("modules", right=True),
    Column("from", rest=True),
)
_TARGETS = Column("targets")
_TRIPLE = re.compile(r"^(hipv?\d*-)?amdgcn-amd-amdhsa-(unknown)?-")


def _images(view: Overview) -> Iterator[list[str]]:
    modules = Counter(module.image for module in view.modules)
    for each in view.images:
        loads, origin = str(modules[each.sha256]), PurePath(each.origin).name
        kind = each.format.replace("_", " ")
        targets = ", ".join(_TRIPLE.sub("", code.target) for code in each.code[:TARGETS_MAX])
        more = f" +{len(each.code) - TARGETS_MAX}" if len(each.code) > TARGETS_MAX else ""
        yield [each.sha256[:SHORT], kind, size_text(each.bytes), loads, origin, targets + more]


_STREAMS = (
    Column("stream", right=True),
    Column("kind"),
    Column("flags", right=True),
    Column("priority", right=True),
    Column("operations", right=True),
)


def _streams(view: Overview) -> Iterator[list[str]]:
    for index, each in enumerate(view.streams):
        kind = each.kind.replace("_", "-")
        yield [str(index), kind, str(each.flags), str(each.priority), str(each.operations)]


_GRAPHS = (
    Column("graph", right=True),
    Column("nodes", right=True),
    Column("edges", right=True),
    Column("launches", right=True),
)
_RANGES = (
    Column("name", rest=True),
    Column("role"),
    Column("address"),
    Column("size", right=True),
    Column("type"),
    Column("shape"),
)


def _ranges(view: Overview) -> Iterator[list[str]]:
    for each in view.ranges:
        shape = "x".join(map(str, each.shape))
        yield [each.name, each.role, hex(each.address), size_text(each.bytes), each.type[:24], shape[:24]]


_ALLOCATIONS = (
    Column("address"),
    Column("size", right=True),
    Column("lives"),
    Column("stored", right=True),
    Column("changed", right=True),
    Column("call", rest=True),
)
_LIVES = {
    (True, True): "throughout",
    (True, False): "freed in region",
    (False, True): "made in region",
    (False, False): "within region",
}


def _allocations(view: Overview) -> Iterator[list[str]]:
    for each in view.allocations:
        stored, changed = map(_content_text, (each.kept_bytes, each.changed_bytes))
        lives = _LIVES[each.before, each.after]
        yield [hex(each.address), size_text(each.bytes), lives, stored, changed, each.call]


def _content_text(size: int | None) -> str:
    return "unknown" if size is None else size_text(size)


_GLOBALS = (
    Column("global", rest=True),
    Column("address"),
    Column("size", right=True),
    Column("changed"),
    Column("module", right=True),
)


def _globals(view: Overview) -> Iterator[list[str]]:
    for each in view.globals:
        changed = "yes" if each.changed else "no"
        yield [each.name, hex(each.address), size_text(each.bytes), changed, str(each.module)]


_OPERATIONS = (
    Column("", right=True),
    Column("graph", right=True),
    Column("stream", right=True),
    Column("operation"),
    Column("what", rest=True),
)


def _operation(index: int, operation: Operation, names: list[str]) -> list[str]:
    stream = "all" if operation.stream == NOTHING else str(operation.stream)
    place = [str(operation.graph), ""] if operation.graph else ["", stream]
    kind = operation.kind.name.lower().replace("_", " ")
    return [str(index), *place, kind, _what(operation, names)]


def _what(operation: Operation, names: list[str]) -> str:
    text = ""
    match operation:
        case Launch():
            grid, block = ("x".join(map(str, each)) for each in (operation.grid, operation.block))
            shared = f", {operation.shared_bytes} B shared" if operation.shared_bytes else ""
            together = ", cooperative" if operation.flags & OperationFlag.COOPERATIVE else ""
            text = f"<{grid}, {block}{shared}{together}> {names[operation.kernel]}"
        case Memset():
            size = size_text(operation.width * operation.element_bytes * operation.height)
            text = f"{size} at {operation.address:#x} to {operation.value:#x}"
        case Memcpy():
            size = size_text(operation.width * operation.height * operation.depth)
            text = f"{size} from {operation.source:#x} to {operation.destination:#x}"
        case MemcpyHtoD():
            text = f"{size_text(operation.content.bytes)} to {operation.destination:#x}"
        case MemcpyDtoH():
            text = f"{size_text(operation.content.bytes)} from {operation.source:#x} to the host, by {operation.call}"
        case EventRecord() | EventWait():
            text = f"event {operation.event}"
        case GraphLaunch():
            text = f"graph {operation.launched}"
    return text + (" (switched off)" if operation.flags & OperationFlag.DISABLED else "")
