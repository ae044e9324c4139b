"""The kernels that an audit log lists within spans of time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .log import checked_lines

SHAPES_MAX = 1024
"""Different launches that are kept for a span. The measured process chooses their number."""

Span = tuple[int, int]
"""Begin and end in nanoseconds of CLOCK_MONOTONIC."""

Extents = tuple[int, int, int]


@dataclass(frozen=True)
class LoggedKernel:
    """Launches of one kernel with one shape. `image` is its code's SHA-256 and `origin` what loaded it, if known."""

    name: str
    image: str
    origin: str
    grid: Extents
    block: Extents
    registers: int
    shared_bytes: int
    launches: int


@dataclass(frozen=True)
class _Shape:
    name: str
    image: str
    grid: Extents
    block: Extents
    shared_bytes: int


class _Reader:
    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans, self._began = spans, 0
        self._counts: list[Counter[_Shape]] = [Counter() for _ in spans]
        self._origins: dict[str, str] = {}
        self._resources: dict[tuple[str, str], tuple[int, int]] = {}
        self._graphs: dict[tuple[int, int], list[dict[str, Any]]] = {}

    def add(self, line: dict[str, Any]) -> None:
        kind = line["kind"]
        if kind == "launch" and line["result"] == 0 and not line["captured"]:
            self._count(line["time_ns"], [line])
        elif kind == "graph":
            key = line["process"], line["graph"]
            self._graphs[key] = (self._graphs.get(key, []) if line["first"] else []) + line["kernels"]
        elif kind == "graph_launch" and line["result"] == 0:
            self._count(line["time_ns"], self._graphs.get((line["process"], line["graph"]), []))
        elif kind == "kernel":
            key = line["name"], line["image"] or ""
            self._resources[key] = line["registers"], line["static_shared_bytes"]
        elif kind == "image":
            self._origins.setdefault(line["sha256"] or "", line["origin"])
        elif kind == "session":
            self._began = line["session_ns"]

    def _count(self, time_ns: int, launches: Sequence[dict[str, Any]]) -> None:
        at = self._began + time_ns
        for counts, (begin, end) in zip(self._counts, self._spans, strict=True):
            if begin <= at < end:
                for each in launches:
                    shape = _Shape(
                        each["name"] or "",
                        each["image"] or "",
                        tuple(each["grid"]),
                        tuple(each["block"]),
                        each["shared_bytes"],
                    )
                    if shape in counts or len(counts) < SHAPES_MAX:
                        counts[shape] += 1

    def kernels(self) -> tuple[tuple[LoggedKernel, ...], ...]:
        return tuple(
            tuple(self._kernel(shape, launches) for shape, launches in each.items()) for each in self._counts
        )

    def _kernel(self, shape: _Shape, launches: int) -> LoggedKernel:
        registers, static = self._resources.get((shape.name, shape.image), (0, 0))
        origin = self._origins.get(shape.image, "") if shape.image else ""
        shared = static + shape.shared_bytes
        return LoggedKernel(
            shape.name, shape.image, origin, shape.grid, shape.block, registers, shared, launches
        )


def launched_within(log: Path, spans: Sequence[Span]) -> tuple[tuple[LoggedKernel, ...], ...]:
    """For each span the kernels that were launched in it, by launches and by graphs, in the order of the first launch.

    Raises LogError.
    """
    reader = _Reader(spans)
    for line, _ in checked_lines(log):
        reader.add(line)
    return reader.kernels()
