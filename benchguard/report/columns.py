"""The tables of a log as columns: launches, calls, kernels, images and GPU times. docs/formats.md describes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from ..audit.entries import (
    CallEntry,
    GraphLaunchEntry,
    ImageEntry,
    KernelEntry,
    LaunchEntry,
    LaunchTimeEntry,
    Line,
)
from ..ipc.json_text import json_line

Type = Literal["int64", "uint64", "bool", "text"]


@dataclass(frozen=True)
class Table:
    """`row` gives the values of a line in the order of `columns`; None if the line is not of this table."""

    name: str
    columns: dict[str, Type]
    row: Callable[[Line], list[Any] | None]


_LIMITS = {"int64": (-(1 << 63), 1 << 63), "uint64": (0, 1 << 64)}


def fitted(table: Table, row: list[Any]) -> list[Any]:
    """The row with null for each number that its column cannot hold. Only a forged log has such numbers."""
    return [
        None
        if isinstance(value, int) and kind in _LIMITS and not _LIMITS[kind][0] <= value < _LIMITS[kind][1]
        else value
        for value, kind in zip(row, table.columns.values(), strict=True)
    ]


_COMMON: dict[str, Type] = {"time_ns": "int64", "duration_ns": "int64", "process": "int64", "thread": "int64"}
_SHAPE: dict[str, Type] = {f"{word}_{axis}": "int64" for word in ("grid", "block") for axis in "xyz"}


def _launch(line: Line) -> list[Any] | None:
    if isinstance(line, LaunchEntry):
        return [
            line.time_ns, line.duration_ns, line.process, line.thread, line.call, line.stream, None, line.kernel,
            line.name, line.demangled, line.image, *line.grid, *line.block, line.shared_bytes, line.cooperative,
            line.captured, line.parameter_bytes, " ".join(line.parameters), line.result, _number(line),
            line.form or None,
        ]  # fmt: skip
    if isinstance(line, GraphLaunchEntry):
        return [
            line.time_ns, line.duration_ns, line.process, line.thread, line.call, line.stream, line.graph, None, None,
            None, None, *[None] * 6, None, None, None, None, None, line.result, _number(line), None,
        ]  # fmt: skip
    return None


def _number(line: LaunchEntry | GraphLaunchEntry) -> int | None:
    return None if line.number is msgspec.UNSET else line.number


def _launch_time(line: Line) -> list[Any] | None:
    if not isinstance(line, LaunchTimeEntry):
        return None
    return [
        line.time_ns, line.process, line.thread, line.number, line.stream, line.kernel, line.graph, line.name,
        line.demangled, line.image, line.gpu_ns, line.early,
    ]  # fmt: skip


def _call(line: Line) -> list[Any] | None:
    if not isinstance(line, CallEntry):
        return None
    floats = None if line.floats is msgspec.UNSET else json_line(line.floats).decode()
    return [
        line.time_ns, line.duration_ns, line.process, line.thread, line.call, line.group, line.count,
        json_line(line.arguments).decode(), line.result, floats,
    ]  # fmt: skip


def _kernel(line: Line) -> list[Any] | None:
    if not isinstance(line, KernelEntry):
        return None
    return [
        line.time_ns, line.process, line.thread, line.kernel, line.name, line.demangled, line.image, line.registers,
        line.static_shared_bytes, line.local_bytes, line.constant_bytes, line.max_threads, line.binary_version,
        line.layout_source, json_line(line.layout).decode(),
    ]  # fmt: skip


def _image(line: Line) -> list[Any] | None:
    if not isinstance(line, ImageEntry):
        return None
    return [
        line.time_ns, line.process, line.thread, line.image, line.sha256, line.bytes, line.format, line.origin,
        line.call, line.note,
    ]  # fmt: skip


TABLES = (
    Table(
        "launches",
        {
            **_COMMON, "call": "text", "stream": "uint64", "graph": "int64", "kernel": "int64", "name": "text",
            "demangled": "text", "image": "text", **_SHAPE, "shared_bytes": "int64", "cooperative": "bool",
            "captured": "bool", "parameter_bytes": "int64", "parameters": "text", "result": "int64",
            "number": "int64", "form": "text",
        },
        _launch,
    ),
    Table(
        "calls",
        {**_COMMON, "call": "text", "group": "text", "repeats": "int64", "arguments": "text", "result": "int64",
         "floats": "text"},
        _call,
    ),
    Table(
        "kernels",
        {
            "time_ns": "int64", "process": "int64", "thread": "int64", "kernel": "int64", "name": "text",
            "demangled": "text", "image": "text", "registers": "int64", "static_shared_bytes": "int64",
            "local_bytes": "int64", "constant_bytes": "int64", "max_threads": "int64", "binary_version": "int64",
            "layout_source": "text", "layout": "text",
        },
        _kernel,
    ),
    Table(
        "images",
        {
            "time_ns": "int64", "process": "int64", "thread": "int64", "number": "int64", "sha256": "text",
            "bytes": "int64", "format": "text", "origin": "text", "call": "text", "note": "text",
        },
        _image,
    ),
    Table(
        "launch_times",
        {
            "time_ns": "int64", "process": "int64", "thread": "int64", "number": "int64", "stream": "uint64",
            "kernel": "int64", "graph": "int64", "name": "text", "demangled": "text", "image": "text",
            "gpu_ns": "int64", "early": "bool",
        },
        _launch_time,
    ),
)  # fmt: skip
