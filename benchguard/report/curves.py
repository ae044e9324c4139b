"""Allocated memory over time as curves, each of at most a given number of points."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..audit.entries import CallEntry
from ..audit.memory import ProcessMemory

CURVES_MAX = 12


@dataclass
class Curve:
    """Points (time in ns, bytes) at which the memory of a kind changes in a process."""

    process: int
    kind: str
    bytes: int = 0
    points: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class Curves:
    """Follows the memory of all processes.

    Attributes:
        limit: number of points that each curve keeps; its highest and lowest are among them.
        changes: number of changes of all curves.
        left_out: kinds and processes without a curve, because there are more than CURVES_MAX.
    """

    limit: int
    curves: dict[tuple[int, str], Curve] = field(default_factory=dict)
    changes: int = 0
    left_out: set[tuple[int, str]] = field(default_factory=set)

    def watch(self, call: CallEntry, memory: ProcessMemory) -> None:
        """Take the memory of a process after a call."""
        for kind, size in memory.live_bytes().items():
            key = memory.process, kind
            curve = self.curves.get(key)
            if curve is None:
                if size == 0:
                    continue
                if len(self.curves) >= CURVES_MAX:
                    if len(self.left_out) < CURVES_MAX:
                        self.left_out.add(key)
                    continue
                curve = self.curves.setdefault(key, Curve(*key))
            if size != curve.bytes:
                curve.bytes = size
                curve.points.append((call.time_ns, size))
                self.changes += 1
                if len(curve.points) >= 2 * self.limit:
                    curve.points = thinned(curve.points)


def thinned(points: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Half of the points: of each four neighbours the lowest and the highest, in their order."""
    results = []
    for at in range(0, len(points) - 1, 4):
        part = points[at : at + 4]
        ends = {
            min(range(len(part)), key=lambda i: part[i][1]),
            max(range(len(part)), key=lambda i: part[i][1]),
        }
        results += [part[index] for index in sorted(ends)]
    return [*results, points[-1]] if results[-1] != points[-1] else results
