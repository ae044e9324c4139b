"""Fat binaries, in which nvcc packs code for several devices (the layout is in fatbin.h of the hook). Hostile."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from .unpack import RAW_MAX, CodeError, Method, unpack

MAGIC = 0xBA55ED50
LZ4, ZSTD = 0x2000, 0x8000
ENTRIES_MAX = 4096

_HEADER = struct.Struct("<IHHQ")
_ENTRY = struct.Struct("<HHIQI")
"""Kind, version, header bytes, payload bytes, compressed bytes."""
_FLAGS, _RAW_BYTES = struct.Struct("<Q"), struct.Struct("<Q")
_FLAGS_AT, _RAW_BYTES_AT, _ENTRY_BYTES_MIN = 40, 56, 64


def packed_codes(image: bytes, most: int = RAW_MAX) -> Iterator[bytes]:
    """The compressed entries of a fat binary, decompressed.

    Raises CodeError for an entry that does not decompress; and before anything is decompressed, if the entries declare
    more than `most` bytes or are more than ENTRIES_MAX.
    """
    packed = list(_packed(image))
    declared = sum(size for _, _, size in packed)
    if declared > most:
        raise CodeError(f"of {len(packed)} unpacks to {declared} bytes with the others; {most} are allowed")
    for method, place, size in packed:
        yield unpack(image[place], method, size)


def _packed(image: bytes) -> Iterator[tuple[Method, slice, int]]:
    """Method, place and declared size of each compressed entry."""
    if len(image) < _HEADER.size or _HEADER.unpack_from(image)[0] != MAGIC:
        return
    _, _, header_bytes, payload_bytes = _HEADER.unpack_from(image)
    at, end = header_bytes, min(len(image), header_bytes + payload_bytes)
    for _ in range(ENTRIES_MAX):
        if at + _ENTRY_BYTES_MIN > end:
            return
        _, _, entry_header, payload, compressed = _ENTRY.unpack_from(image, at)
        (flags,) = _FLAGS.unpack_from(image, at + _FLAGS_AT)
        (raw_bytes,) = _RAW_BYTES.unpack_from(image, at + _RAW_BYTES_AT)
        begin = at + entry_header
        if flags & (LZ4 | ZSTD):
            method = Method.ZSTD if flags & ZSTD else Method.LZ4
            yield method, slice(begin, begin + (compressed or payload)), raw_bytes
        if entry_header + payload == 0:
            return
        at = begin + payload
    raise CodeError(f"is behind {ENTRIES_MAX} others")
