"""Summarise an audit log: kernels, images and counts of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..ipc.json_text import json_document
from .calls import EXPORT_TABLES
from .log import FIRST, checked_lines

SCHEMA = "neutrino-bench/summary/1"

Shape = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class KernelRow:
    """One kernel of one image. `launches` counts accepted launches, `graph_launches` those by graphs."""

    name: str
    image: str | None
    launches: int
    graph_launches: int
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shapes: int

    @property
    def total(self) -> int:
        return self.launches + self.graph_launches


@dataclass(frozen=True)
class ImageRow:
    """One code image and its number of loads. `origin` is the library that contained or loaded it."""

    sha256: str | None
    format: str
    bytes: int
    origin: str
    loads: int
    launches: int
    note: str | None


@dataclass(frozen=True)
class Summary:
    """The summary of a run, which the tables show and `--summary` writes."""

    command: list[str]
    driver: str
    status: int | None
    kernels: list[KernelRow]
    images: list[ImageRow]
    unmapped: list[str]
    calls: int
    launches: int
    graph_launches: int
    failed_launches: int
    captured_launches: int
    processes: int
    export_tables: int
    dropped: int
    images_dropped: int
    in_flight: list[str]
    unobserved: list[str]
    notes: list[str]
    complete: bool
    lines: int
    head: str
    api: str
    schema: str = field(default=SCHEMA)

    def to_json(self) -> str:
        return json_document(self)


@dataclass
class _Kernel:
    image: str | None
    launches: int = 0
    graph_launches: int = 0
    shapes: Counter[Shape] = field(default_factory=Counter)


class _Tally:
    """Counts log lines."""

    def __init__(self) -> None:
        self.session: dict[str, Any] = {}
        self.end: dict[str, Any] = {}
        self.kernels: dict[tuple[str, str | None], _Kernel] = {}
        self.images: dict[tuple[str | None, str], list[dict[str, Any]]] = {}
        self.graphs: dict[tuple[int, int], list[dict[str, Any]]] = {}
        self.unmapped: Counter[str] = Counter()
        self.in_flight: list[str] = []
        self.notes: list[str] = []
        self.failed = self.captured = self.export_tables = self.lines = 0

    def add(self, line: dict[str, Any]) -> None:
        self.lines += 1
        kind = line["kind"]
        if kind == "launch":
            self._launch(line)
        elif kind == "call":
            self.export_tables += line["call"] in EXPORT_TABLES
        elif kind == "image":
            self.images.setdefault((line["sha256"], line["origin"]), []).append(line)
        elif kind == "graph":
            self._graph(line)
        elif kind == "graph_launch":
            self._graph_launch(line)
        elif kind == "unmapped":
            self.unmapped[line["name"]] += 1
        elif kind == "in_flight":
            self.in_flight.append(line["call"])
        elif kind == "note":
            self.notes.append(line["text"])
        elif kind == "session":
            self.session = line
        elif kind == "end":
            self.end = line

    def _kernel(self, line: dict[str, Any]) -> _Kernel:
        name = line["demangled"] or line["name"] or "(unknown)"
        return self.kernels.setdefault((name, line["image"]), _Kernel(line["image"]))

    def _launch(self, line: dict[str, Any]) -> None:
        if line["result"] != 0:
            self.failed += 1
        elif line["captured"]:
            self.captured += 1
        else:
            kernel = self._kernel(line)
            kernel.launches += 1
            kernel.shapes[tuple(line["grid"]), tuple(line["block"])] += 1

    def _graph(self, line: dict[str, Any]) -> None:
        key = line["process"], line["graph"]
        if line.get("first", 0):  # a graph too long for one line goes on
            self.graphs.setdefault(key, []).extend(line["kernels"])
        else:
            self.graphs[key] = list(line["kernels"])

    def _graph_launch(self, line: dict[str, Any]) -> None:
        if line["result"] != 0:
            self.failed += 1
            return
        for node in self.graphs.get((line["process"], line["graph"]), []):
            kernel = self._kernel(node)
            kernel.graph_launches += 1
            kernel.shapes[tuple(node["grid"]), tuple(node["block"])] += 1


def summarise(path: Path) -> Summary:
    """Summarise a log file and check its hash chain. Raises LogError."""
    return summarise_lines(checked_lines(path))


def summarise_lines(lines: Iterable[tuple[dict[str, Any], str]]) -> Summary:
    """Summarise lines that were already read, each with its hash."""
    tally, head = _Tally(), FIRST
    for line, line_hash in lines:
        tally.add(line)
        head = line_hash
    end, session = tally.end, tally.session
    by_image: Counter[str | None] = Counter()
    for kernel in tally.kernels.values():
        by_image[kernel.image] += kernel.launches + kernel.graph_launches
    return Summary(
        command=session.get("command", []),
        driver=session.get("driver", {}).get("path", ""),
        status=end.get("status", 0),
        kernels=sorted(map(_kernel_row, tally.kernels, tally.kernels.values()), key=lambda row: -row.total),
        images=sorted(
            (_image_row(loads, by_image) for loads in tally.images.values()),
            key=lambda row: (-row.launches, row.origin),
        ),
        unmapped=sorted(tally.unmapped),
        calls=end.get("calls", 0),
        launches=sum(kernel.launches for kernel in tally.kernels.values()),
        graph_launches=sum(kernel.graph_launches for kernel in tally.kernels.values()),
        failed_launches=tally.failed,
        captured_launches=tally.captured,
        processes=end.get("processes", 0),
        export_tables=tally.export_tables,
        dropped=end.get("dropped", 0),
        images_dropped=end.get("images_dropped", 0),
        in_flight=tally.in_flight,
        unobserved=end.get("unobserved", []),
        notes=tally.notes,
        complete=end.get("complete", False),
        lines=tally.lines,
        head=head,
        api=session.get("api", "cuda"),
    )


def _kernel_row(key: tuple[str, str | None], kernel: _Kernel) -> KernelRow:
    (grid, block), _ = kernel.shapes.most_common(1)[0]
    return KernelRow(
        key[0], kernel.image, kernel.launches, kernel.graph_launches, grid, block, len(kernel.shapes)
    )


def _image_row(loads: list[dict[str, Any]], by_image: Counter[str | None]) -> ImageRow:
    first = loads[0]
    return ImageRow(
        first["sha256"],
        first["format"],
        first["bytes"],
        first["origin"],
        len(loads),
        by_image[first["sha256"]] if first["sha256"] is not None else 0,
        first["note"],
    )
