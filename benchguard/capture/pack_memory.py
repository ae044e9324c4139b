"""The memory of a raw capture as runs of a capture: zero pages left out, and of its end only what differs."""

from __future__ import annotations

import enum
import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from .codec import MalformedError
from .extents import Joined
from .layout import BLOB_MAX, PAGE, Kind
from .raw_capture import Place, RawCapture
from .writer import CaptureWriter

ZERO_PAGE = bytes(PAGE)
ZERO_BLOB = memoryview(bytes(BLOB_MAX))
END = 1 << 64


@dataclass(frozen=True)
class Stretch:
    """Memory from `address` on, whose bytes are in the raw capture."""

    address: int
    place: Place

    @property
    def end(self) -> int:
        return self.address + self.place.bytes


class Snapshot:
    """All memory at one time; what no stretch holds is zero. Raises MalformedError."""

    def __init__(self, raw_capture: RawCapture, stretches: Iterable[Stretch]) -> None:
        self._descriptor = raw_capture.descriptor
        self.stretches = sorted(stretches, key=_address)
        end = 0
        for stretch in self.stretches:
            where = f"memory of {stretch.place.bytes} bytes at {stretch.address:#x}"
            if stretch.address % PAGE or stretch.end > END:
                raise MalformedError(f"{where} is not whole pages of the address space")
            if stretch.address < end:
                raise MalformedError(f"{where} was recorded twice")
            end = stretch.end

    def read(self, address: int, size: int) -> bytearray:
        into = bytearray(size)
        view = memoryview(into)
        at = max(0, bisect_right(self.stretches, address, key=_address) - 1)
        while at < len(self.stretches) and (stretch := self.stretches[at]).address < address + size:
            begin, end = max(stretch.address, address), min(stretch.end, address + size)
            if begin < end:
                place = stretch.place.at + begin - stretch.address
                if os.preadv(self._descriptor, [view[begin - address : end - address]], place) != end - begin:
                    raise MalformedError("the raw capture became shorter")
            at += 1
        return into


class _Page(enum.Enum):
    LEFT_OUT = 0
    ZERO = 1
    KEPT = 2


def pack_before(writer: CaptureWriter, before: Snapshot) -> int:
    """Write BEFORE; returns how many bytes are not left out."""
    stored_bytes = 0
    for begin, end in Joined((each.address, each.end) for each in before.stretches).ranges:
        for address, size in _windows(begin, end):
            memory = before.read(address, size)
            if memory == ZERO_BLOB[:size]:
                continue
            states = [_Page.LEFT_OUT if _is_zero(page) else _Page.KEPT for page in _pages(memory)]
            stored_bytes += _write(writer, Kind.BEFORE, address, memory, states)
    return stored_bytes


def pack_after(writer: CaptureWriter, before: Snapshot, after: Snapshot, living: Joined) -> int:
    """Write AFTER, of memory that lives on; returns how many bytes differ."""
    changed = 0
    known = Joined((each.address, each.end) for each in (*before.stretches, *after.stretches))
    for begin, end in _intersection(known.ranges, living.ranges):
        for address, size in _windows(begin, end):
            old, new = before.read(address, size), after.read(address, size)
            if old != new:
                states = [_differing(a, b) for a, b in zip(_pages(old), _pages(new), strict=True)]
                changed += _write(writer, Kind.AFTER, address, new, states)
    return changed


def _write(
    writer: CaptureWriter, kind: Kind, address: int, memory: bytearray, states: Iterable[_Page]
) -> int:
    """A run for every group of pages that are alike; returns the bytes of all runs."""
    page, size = 0, 0
    for state, group in groupby(states):
        begin, page = page, page + len(list(group))
        raw = bytes(memory[begin * PAGE : page * PAGE])
        if state is not _Page.LEFT_OUT:
            writer.add_run(kind, address + begin * PAGE, raw if state is _Page.KEPT else None, len(raw))
            size += len(raw)
    return size


def _differing(old: bytearray, new: bytearray) -> _Page:
    if old == new:
        return _Page.LEFT_OUT
    return _Page.ZERO if _is_zero(new) else _Page.KEPT


def _is_zero(page: bytearray) -> bool:
    return page == (ZERO_PAGE if len(page) == PAGE else bytes(len(page)))


def _pages(memory: bytearray) -> Iterator[bytearray]:
    return (memory[at : at + PAGE] for at in range(0, len(memory), PAGE))


def _windows(begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Pieces of one blob each, which begin at multiples of its size so that copies of memory are equal blobs."""
    while begin < end:
        size = min(end, begin - begin % BLOB_MAX + BLOB_MAX) - begin
        yield begin, size
        begin += size


def _intersection(
    some: Iterable[tuple[int, int]], others: Iterable[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """The intersection of sorted, disjoint ranges."""
    left, right = iter(some), iter(others)
    one, other = next(left, None), next(right, None)
    while one and other:
        begin, end = max(one[0], other[0]), min(one[1], other[1])
        if begin < end:
            yield begin, end
        if one[1] < other[1]:
            one = next(left, None)
        else:
            other = next(right, None)


def _address(stretch: Stretch) -> int:
    return stretch.address
