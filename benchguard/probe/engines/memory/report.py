"""The table of a kernel's accesses, from its counters. Their bytes are hostile."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchguard.probe.engines.memory.build import COUNTERS, MAP_BYTES_EACH
from benchguard.probe.engines.memory.places import Place, place_of, places
from benchguard.probe.ptx import Rewrite, parse

SECTOR, LINE = 32, 128


@dataclass(frozen=True)
class Row:
    """The accesses of one instruction, summed over launches. `passes` is None where passes are not counted.

    `efficiency` is the share of the moved sectors that the threads asked for, at most 1: lanes may share an element.
    """

    place: Place
    warps: int
    threads: int
    bytes: int
    sectors: int
    lines: int
    passes: int | None

    @property
    def efficiency(self) -> float | None:
        return min(1.0, self.bytes / (SECTOR * self.sectors)) if self.sectors else None

    @property
    def conflicts(self) -> float | None:
        """Passes through shared memory for each access of a warp; 1 without bank conflicts."""
        return self.passes / self.warps if self.passes and self.warps else None


def rows(places: Sequence[Place], traces: Iterable[bytes]) -> tuple[Row, ...]:
    """Sum the counters of all launches. Raises ValueError for a trace of another size."""
    sums = [[0] * COUNTERS for _ in places]
    for trace in traces:
        if len(trace) != MAP_BYTES_EACH * len(places):
            raise ValueError(f"the trace has {len(trace)} bytes, not {MAP_BYTES_EACH * len(places)}")
        for number, counts in enumerate(struct.iter_unpack(f"<{COUNTERS}Q", trace)):
            sums[number] = [a + b for a, b in zip(sums[number], counts, strict=True)]
    return tuple(_row(place, counts) for place, counts in zip(places, sums, strict=True))


def _row(place: Place, counts: Sequence[int]) -> Row:
    warps, threads, size, sectors, lines, passes = counts
    return Row(place, warps, threads, size, sectors, lines, passes or None)


HEAD = (
    "PTX line",
    "access",
    "space",
    "warps",
    "threads",
    "bytes",
    "sectors",
    "lines",
    "efficiency",
    "passes",
    "source",
)


def report(ptx: str, kernel: str, traces: Iterable[bytes]) -> str:
    """The table of a kernel.

    Args:
        ptx: The text that the engine was given.
        kernel: Its kernel.
        traces: The map of each launch.

    Raises:
        PtxError: The text is not PTX, or lacks the kernel.
        ValueError: A trace is of another kernel.
    """
    rewrite = Rewrite(parse(ptx), kernel)
    return table(rows([place_of(rewrite.module, *each) for each in places(rewrite)], traces))


def table(found: Sequence[Row]) -> str:
    """The rows as text, by line of the PTX."""
    lines = [HEAD, *(_cells(each) for each in sorted(found, key=lambda row: row.place.line))]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = ([cell.ljust(width) for cell, width in zip(each, widths, strict=True)] for each in lines)
    return "\n".join("  ".join(cells).rstrip() for cells in padded)


def _cells(row: Row) -> tuple[str, ...]:
    place = row.place
    efficiency, conflicts = row.efficiency, row.conflicts
    return (
        str(place.line), f"{place.kind} {place.bytes} B", place.space, str(row.warps), str(row.threads), str(row.bytes),
        str(row.sectors) if place.space != "shared" else "-", str(row.lines) if place.space != "shared" else "-",
        f"{efficiency:.0%}" if efficiency is not None else "-", f"{conflicts:.1f}" if conflicts is not None else "-",
        place.source,
    )  # fmt: skip
