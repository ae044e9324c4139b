"""The kernels of the samples of inline timing, by an audit log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .log import checked_lines
from .order import HELD_NS, InOrder
from .sample_marks import SampleMark, sample_mark

SHAPES_MAX = 1024
"""Different launches that are kept for a case. The measured process chooses their number."""

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
class SampledKernels:
    """The kernels of a case's samples, in the order of the first launch. `by_sample`: launches in each sample."""

    kernels: tuple[LoggedKernel, ...]
    by_sample: tuple[int, ...]


@dataclass(frozen=True)
class _Shape:
    name: str
    image: str
    grid: Extents
    block: Extents
    shared_bytes: int


@dataclass
class _Case:
    by_sample: list[int]
    shapes: Counter[_Shape]


Event = SampleMark | list[dict[str, Any]]
"""A mark, or the launched kernels."""


class _Reader:
    def __init__(self, samples: Sequence[int]) -> None:
        self._cases = [_Case([0] * count, Counter()) for count in samples]
        self._sample: SampleMark | None = None
        self._held: InOrder[Event] = InOrder()
        self._origins: dict[str, str] = {}
        self._resources: dict[tuple[str, str], tuple[int, int]] = {}
        self._graphs: dict[tuple[int, int], list[dict[str, Any]]] = {}

    def add(self, line: dict[str, Any]) -> None:
        kind = line["kind"]
        if kind == "launch" and line["result"] == 0 and not line["captured"]:
            self._push(line, [line])
        elif kind == "graph":
            key = line["process"], line["graph"]
            self._graphs[key] = (self._graphs.get(key, []) if line["first"] else []) + line["kernels"]
        elif kind == "graph_launch" and line["result"] == 0:
            self._push(line, self._graphs.get((line["process"], line["graph"]), []))
        elif kind == "phase" and (mark := sample_mark(line["label"], line["origin"])) is not None:
            self._push(line, mark)
        elif kind == "kernel":
            key = line["name"], line["image"] or ""
            self._resources[key] = line["registers"], line["static_shared_bytes"]
        elif kind == "image":
            self._origins.setdefault(line["sha256"] or "", line["origin"])

    def _push(self, line: dict[str, Any], event: Event) -> None:
        time_ns = line["time_ns"]
        self._take(self._held.push(time_ns, event))
        self._take(self._held.until(time_ns - HELD_NS))

    def _take(self, events: Iterator[Event]) -> None:
        for event in events:
            if isinstance(event, SampleMark):
                self._sample = None if event.is_end else event
            elif self._sample is not None:
                self._count(self._sample, event)

    def _count(self, mark: SampleMark, launches: Sequence[dict[str, Any]]) -> None:
        if mark.case >= len(self._cases) or mark.sample >= len(self._cases[mark.case].by_sample):
            return
        case = self._cases[mark.case]
        case.by_sample[mark.sample] += len(launches)
        for each in launches:
            shape = _Shape(
                each["name"] or "",
                each["image"] or "",
                tuple(each["grid"]),
                tuple(each["block"]),
                each["shared_bytes"],
            )
            if shape in case.shapes or len(case.shapes) < SHAPES_MAX:
                case.shapes[shape] += 1

    def finish(self) -> tuple[SampledKernels, ...]:
        self._take(self._held.rest())
        return tuple(
            SampledKernels(
                tuple(self._kernel(shape, launches) for shape, launches in each.shapes.items()),
                tuple(each.by_sample),
            )
            for each in self._cases
        )

    def _kernel(self, shape: _Shape, launches: int) -> LoggedKernel:
        registers, static = self._resources.get((shape.name, shape.image), (0, 0))
        origin = self._origins.get(shape.image, "") if shape.image else ""
        shared = static + shape.shared_bytes
        return LoggedKernel(
            shape.name, shape.image, origin, shape.grid, shape.block, registers, shared, launches
        )


def sampled_kernels(log: Path, samples: Sequence[int]) -> tuple[SampledKernels, ...]:
    """The kernels that the samples of each case launch, directly and by graphs.

    `samples` has the number of samples of each case, the probe included. Raises LogError.
    """
    reader = _Reader(samples)
    for line, _ in checked_lines(log):
        reader.add(line)
    return reader.finish()
