"""Cut a capture file into the parts that an archive stores: equal images and equal memory become equal parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

SHARED_MIN = 4096
"""Bytes from which a blob is a part of its own."""

PIECE_MAX = 16 << 20
"""Bytes of a part that is not a blob."""


def capture_pieces(blobs: Iterable[tuple[int, int]], file_bytes: int) -> Iterator[tuple[int, int]]:
    """Begin and end of each piece, which together are the file. `blobs` are offset and size of each."""
    at = 0
    for offset, size in sorted(set(blobs)):
        if size >= SHARED_MIN and at <= offset and offset + size <= file_bytes:
            yield from _between(at, offset)
            yield from _between(offset, offset + size)
            at = offset + size
    yield from _between(at, file_bytes)


def _between(begin: int, end: int) -> Iterator[tuple[int, int]]:
    for at in range(begin, end, PIECE_MAX):
        yield at, min(at + PIECE_MAX, end)
