"""Directions and sizes of copies."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Mapping

from .memory_calls import HOST, MANAGED

UNKNOWN = "not recorded"
"""The direction of a copy whose description is a structure, which the shim does not read."""

_COPY = re.compile(r"(?:cu|hip)(?:Drv)?Memcpy")
_NAMED = re.compile(r"([HDA])to([HDA])")
_PLACES = {"H": "host", "D": "device", "A": "array"}
_HIP_KINDS = {0: "host to host", 1: "host to device", 2: "device to host", 3: "device to device"}
_SIZES = ("ByteCount", "sizeBytes", "count", "size")
_ENDS = ("dst", "src")
RANGES_MAX = 1 << 18
"""Ranges that are followed at once in one process."""


def is_copy(name: str) -> bool:
    """Whether a call, by the name of the documentation, copies memory."""
    return _COPY.match(name) is not None


def is_asynchronous(name: str) -> bool:
    """Whether the call may return before the copy is done, by design."""
    return "Async" in name


def bytes_of(name: str, arguments: Mapping[str, int]) -> int | None:
    """The size of a copy; None if its record does not have it."""
    if "Batch" in name:
        return None
    if "width" in arguments and "height" in arguments:
        return arguments["width"] * arguments["height"]
    return next((arguments[size] for size in _SIZES if size in arguments), None)


def direction_of(name: str, arguments: Mapping[str, int], ranges: Ranges) -> str:
    """The direction that a copy's name says, or HIP's `kind`, or the known addresses."""
    if named := _NAMED.search(name):
        return f"{_PLACES[named[1]]} to {_PLACES[named[2]]}"
    if "Peer" in name and "3D" not in name:
        return "device to device"
    if (kind := _HIP_KINDS.get(arguments.get("kind", -1))) is not None:
        return kind
    if all(end in arguments for end in _ENDS):
        destination, source = (ranges.place(arguments[end]) for end in _ENDS)
        return f"{source} to {destination}"
    return UNKNOWN


class Ranges:
    """The addresses that logged calls gave, and whether their memory is the host's or the device's."""

    def __init__(self) -> None:
        self.is_partial = False
        """Whether there is device memory whose address or size is not known."""
        self._starts: list[int] = []
        self._ends: dict[int, tuple[int, str]] = {}

    def add(self, start: int, size: int, kind: str) -> None:
        """Add memory of one of the kinds of memory_calls."""
        if start not in self._ends:
            if len(self._starts) >= RANGES_MAX:
                self.is_partial = True
                return
            insort(self._starts, start)
        self._ends[start] = (
            start + size,
            "host" if kind == HOST else "managed" if kind == MANAGED else "device",
        )

    def remove(self, start: int) -> None:
        if self._ends.pop(start, None) is not None:
            del self._starts[bisect_right(self._starts, start) - 1]

    def starts_within(self, start: int, end: int) -> list[int]:
        """The first addresses of the ranges that begin between two addresses."""
        return self._starts[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    def place(self, address: int) -> str:
        """The memory that an address is in. Memory that no call gave is the program's own, on the host."""
        position = bisect_right(self._starts, address) - 1
        if position >= 0:
            end, place = self._ends[self._starts[position]]
            if address < end:
                return place
        return "unknown" if self.is_partial else "host"
