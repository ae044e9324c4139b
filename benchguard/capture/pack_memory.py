"""The memory of a raw capture as runs of a capture: pieces of one blob each, without the zero pages of its begin."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from .codec import MalformedError
from .extents import Joined
from .layout import BLOB_MAX, PAGE, Kind
from .model import Content
from .raw_capture import Place, RawCapture
from .writer import CaptureWriter

ZERO_PAGE = bytes(PAGE)
ZEROS = bytes(64)
"""Memory without these has no zero page. Device memory seldom has them."""
END = 1 << 64
FILLED_MAX = 64
"""Pages that are remembered as the content of whole windows; the recorder needs one."""


@dataclass(frozen=True)
class Stretch:
    """`bytes` of memory from `address` on. The raw capture has all of them, one page for all pages, or none: zeros."""

    address: int
    bytes: int
    place: Place

    @property
    def end(self) -> int:
        return self.address + self.bytes


class Snapshot:
    """Memory at one time, where it is known. Raises MalformedError."""

    def __init__(self, raw_capture: RawCapture, stretches: Iterable[Stretch]) -> None:
        self._raw_capture = raw_capture
        self.stretches = sorted(stretches, key=_address)
        end = 0
        for stretch in self.stretches:
            where = f"memory of {stretch.bytes} bytes at {stretch.address:#x}"
            if stretch.address % PAGE or stretch.end > END:
                raise MalformedError(f"{where} is not whole pages of the address space")
            if stretch.address < end:
                raise MalformedError(f"{where} was recorded twice")
            end = stretch.end

    @property
    def ranges(self) -> list[tuple[int, int]]:
        return Joined((each.address, each.end) for each in self.stretches).ranges

    def read(self, address: int, size: int) -> bytearray:
        """Memory from a page's begin on."""
        memory = bytearray(size)
        view = memoryview(memory)
        at = max(0, bisect_right(self.stretches, address, key=_address) - 1)
        while at < len(self.stretches) and (stretch := self.stretches[at]).address < address + size:
            begin, end = max(stretch.address, address), min(stretch.end, address + size)
            if begin < end:
                self._fill(view[begin - address : end - address], stretch, begin - stretch.address)
            at += 1
        return memory

    def page_at(self, address: int, size: int) -> bytes | None:
        """The page of which memory from a page's begin on has copies; None if the raw capture does not say so."""
        at = bisect_right(self.stretches, address, key=_address) - 1
        if at < 0 or self.stretches[at].end < address + size:
            return None
        place = self.stretches[at].place
        if place.bytes == self.stretches[at].bytes:
            return None
        return self._raw_capture.read(place.at, PAGE) if place.bytes else ZERO_PAGE

    def _fill(self, view: memoryview, stretch: Stretch, offset: int) -> None:
        place = stretch.place
        if place.bytes == stretch.bytes:
            self._raw_capture.read_into(view, place.at + offset)
        elif place.bytes:
            page = self._raw_capture.read(place.at, PAGE)
            view[:] = (page * -(-len(view) // PAGE))[: len(view)]


def pack_before(writer: CaptureWriter, before: Snapshot) -> int:
    """Write BEFORE; returns how many bytes are not left out."""
    return _pack(writer, Kind.BEFORE, before, before.ranges)


def pack_after(writer: CaptureWriter, after: Snapshot, living: Joined) -> int:
    """Write AFTER, of memory that lives on; returns how many bytes differ."""
    return _pack(writer, Kind.AFTER, after, _intersection(after.ranges, living.ranges))


def _pack(writer: CaptureWriter, kind: Kind, snapshot: Snapshot, ranges: Iterable[tuple[int, int]]) -> int:
    filled: dict[tuple[bytes, int], Content] = {}
    packed = 0
    for begin, end in ranges:
        for address, size in _windows(begin, end):
            packed += _pack_window(writer, kind, snapshot, address, size, filled)
    return packed


def _pack_window(
    writer: CaptureWriter,
    kind: Kind,
    snapshot: Snapshot,
    address: int,
    size: int,
    filled: dict[tuple[bytes, int], Content],
) -> int:
    """`filled` has the contents so far of windows that are copies of one page, by page and size. The recorder fills
    unused memory, of which a call may have many GiB."""
    page = snapshot.page_at(address, size)
    if page is None:
        packed, memory = 0, snapshot.read(address, size)
        view = memoryview(memory)
        for at, length, is_zero in _runs(memory):
            if is_zero and kind is Kind.BEFORE:
                continue
            writer.add_run(kind, address + at, None if is_zero else view[at : at + length], length)
            packed += length
        return packed
    if page == ZERO_PAGE:
        if kind is Kind.BEFORE:
            return 0
        writer.add_run(kind, address, None, size)
    elif (page, size) in filled:
        writer.add_run_again(kind, address, filled[page, size])
    else:
        content = writer.add_run(kind, address, (page * -(-size // PAGE))[:size])
        if len(filled) < FILLED_MAX:
            filled[page, size] = content
    return size


def _runs(memory: bytearray) -> Iterator[tuple[int, int, bool]]:
    """Offset and length of each group of pages that are zero, or are not."""
    if ZEROS not in memory:
        yield 0, len(memory), False
        return
    pages = (memory[at : at + PAGE] for at in range(0, len(memory), PAGE))
    at = 0
    for is_zero, group in groupby(map(_is_zero, pages)):
        length = min(PAGE * len(list(group)), len(memory) - at)
        yield at, length, is_zero
        at += length


def _is_zero(page: bytearray) -> bool:
    return page == ZERO_PAGE[: len(page)]


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
