"""Times of original, pruned and probed launches of a run, from its audit log (docs/probes.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Literal

import msgspec

from ..audit.entries import LaunchEntry, LaunchTimeEntry
from ..audit.typed_log import LogEntries
from ..errors import BenchguardError
from ..ipc.json_text import json_line
from ..units import duration_text

BENCHMARK = "benchmark.jsonl"
Form = Literal["original", "pruned", "probed"]


class FormTimes(msgspec.Struct, frozen=True):
    """GPU times of the launches of one form, in nanoseconds.

    `early`: the GPU was at each launch before it was queued, so the times include the time until then. Otherwise such
    launches are left out.
    """

    launches: int
    median_ns: int
    min_ns: int
    early: bool


class Comparison(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of benchmark.jsonl: launches of a kernel with one shape. A form without a timed launch is absent."""

    kernel: str
    image: str | None
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    original: FormTimes | None = None
    pruned: FormTimes | None = None
    probed: FormTimes | None = None

    @property
    def slowdown(self) -> float | None:
        """The probed kernel's median over that of the kernel without probes; None if one is unknown or 0."""
        without = self.pruned or self.original
        if without is None or self.probed is None or without.median_ns == 0:
            return None
        return self.probed.median_ns / without.median_ns


@dataclass(frozen=True)
class _Shape:
    kernel: str
    image: str | None
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int


@dataclass
class _Times:
    in_time: list[int] = field(default_factory=list)
    early: list[int] = field(default_factory=list)

    def summary(self) -> FormTimes:
        times = self.in_time or self.early
        return FormTimes(len(times), int(median(times)), min(times), early=not self.in_time)


def compare(log: Path) -> list[Comparison]:
    """The kernels of a log that ran with probes, in the order of their first timed launch.

    Raises:
        LogError: The file is not an audit log.
    """
    running: dict[tuple[int, int], tuple[_Shape, Form]] = {}
    found: dict[_Shape, dict[Form, _Times]] = {}
    for line in LogEntries(log):
        if isinstance(line, LaunchEntry) and isinstance(line.number, int) and line.result == 0:
            shape = _Shape(line.name or "", line.image, line.grid, line.block, line.shared_bytes)
            running[line.process, line.number] = shape, line.form or "original"
        elif isinstance(line, LaunchTimeEntry) and (line.process, line.number) in running:
            shape, form = running.pop((line.process, line.number))
            times = found.setdefault(shape, {}).setdefault(form, _Times())
            (times.early if line.early else times.in_time).append(line.gpu_ns)
    probed = {(shape.kernel, shape.image) for shape, forms in found.items() if set(forms) != {"original"}}
    return [
        Comparison(
            shape.kernel, shape.image, shape.grid, shape.block, shape.shared_bytes,
            **{form: times.summary() for form, times in forms.items()},
        )
        for shape, forms in found.items()
        if (shape.kernel, shape.image) in probed
    ]  # fmt: skip


def write_comparisons(folder: Path, comparisons: Sequence[Comparison]) -> None:
    """Write benchmark.jsonl. Raises BenchguardError."""
    path = folder / BENCHMARK
    try:
        path.write_bytes(b"".join(json_line(each) + b"\n" for each in comparisons))
    except OSError as error:
        raise BenchguardError(f"cannot write {path}: {error.strerror}") from error


def lines(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """A line of text for each comparison."""
    for each in comparisons:
        shape = f"{_extent(each.grid)} blocks of {_extent(each.block)}"
        forms = {"original": each.original, "pruned": each.pruned, "probed": each.probed}
        times = ", ".join(f"{name} {_text(form)}" for name, form in forms.items() if form is not None)
        slower = f"; {each.slowdown:.2f} times as long with probes" if each.slowdown is not None else ""
        yield f"{each.kernel}, {shape}: {times}{slower}"


def _text(form: FormTimes) -> str:
    waits = ", with the wait for the launch" if form.early else ""
    count = "1 launch" if form.launches == 1 else f"{form.launches} launches"
    return f"{duration_text(form.median_ns)} ({count}{waits})"


def _extent(sizes: tuple[int, int, int]) -> str:
    shown = [str(size) for size in sizes]
    while len(shown) > 1 and shown[-1] == "1":
        shown.pop()
    return "x".join(shown)
