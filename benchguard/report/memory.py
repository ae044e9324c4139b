"""Allocated memory over time, by the calls in a log: a curve of at most a given number of points."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..audit.entries import CallEntry

CURVES_MAX = 12
LIVE_MAX = 1 << 20
BYTES_MAX = 1 << 53
_SUFFIX = re.compile(r"(_v\d+|_ptds|_ptsz)+$")

ALLOCATES = {
    **dict.fromkeys(
        ("cuMemAlloc", "cuMemAllocAsync", "cuMemAllocFromPoolAsync", "cuMemAllocPitch", "cuMemCreate"),
        "device",
    ),
    **dict.fromkeys(("hipMalloc", "hipMallocAsync", "hipMallocFromPoolAsync", "hipMallocPitch"), "device"),
    **dict.fromkeys(("cuMemAllocManaged", "hipMallocManaged"), "managed"),
    **dict.fromkeys(("cuMemAllocHost", "cuMemHostAlloc", "hipHostMalloc", "hipMallocHost"), "pinned host"),
}
"""Kind of memory by call. The first argument is the address or handle, the second the size."""

PITCHED = ("cuMemAllocPitch", "hipMallocPitch")
"""The second argument is the bytes of a row, the fourth the number of rows."""

FREES = frozenset(
    {"cuMemFree", "cuMemFreeAsync", "cuMemFreeHost", "cuMemRelease", "hipFree", "hipFreeAsync", "hipHostFree"}
)


@dataclass
class Curve:
    """Points (time in ns, bytes) at which the memory of a kind changes in a process."""

    process: int
    kind: str
    bytes: int = 0
    peak: int = 0
    allocations: int = 0
    points: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class Memory:
    """Follows allocations and frees.

    Attributes:
        limit: number of points that each curve keeps; the highest and the lowest are among them.
        changes: number of changes of all curves.
        unmatched: frees of memory whose allocation is not in the log.
        left_out: allocations that no curve shows, because there are too many, or because the size is impossible.
    """

    limit: int
    curves: dict[tuple[int, str], Curve] = field(default_factory=dict)
    changes: int = 0
    unmatched: int = 0
    left_out: int = 0
    _live: dict[tuple[int, str, int], int] = field(default_factory=dict)

    def add(self, call: CallEntry) -> None:
        name = _SUFFIX.sub("", call.call)
        if call.result != 0:
            return
        words = list(call.arguments.values())
        if name in ALLOCATES and len(words) >= (4 if name in PITCHED else 2):
            size = words[1] * words[3] if name in PITCHED else words[1]
            self._allocate(call, ALLOCATES[name], words[0], size)
        elif name in FREES and words and words[0]:
            self._free(call, words[0])

    def _allocate(self, call: CallEntry, kind: str, address: int, size: int) -> None:
        key = call.process, kind
        full = key not in self.curves and len(self.curves) >= CURVES_MAX
        if full or len(self._live) >= LIVE_MAX or not 0 < size < BYTES_MAX:
            self.left_out += 1
            return
        self._live[call.process, kind, address] = size
        curve = self.curves.setdefault(key, Curve(*key))
        curve.allocations += 1
        self._change(curve, call.time_ns, size)

    def _free(self, call: CallEntry, address: int) -> None:
        for kind in ("device", "managed", "pinned host"):
            size = self._live.pop((call.process, kind, address), None)
            if size is not None:
                self._change(self.curves[call.process, kind], call.time_ns, -size)
                return
        self.unmatched += 1

    def _change(self, curve: Curve, time: int, size: int) -> None:
        curve.bytes += size
        curve.peak = max(curve.peak, curve.bytes)
        curve.points.append((time, curve.bytes))
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
