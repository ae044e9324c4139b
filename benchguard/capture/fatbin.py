"""Fat binaries, in which nvcc packs code for several devices (the layout is in fatbin.h of the hook). Hostile."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from .unpack import RAW_MAX, CodeError, Method, unpack

MAGIC = 0xBA55ED50
LZ4, ZSTD = 0x2000, 0x8000
PTX, ELF, LTO_IR = 1, 2, 8
KINDS = {PTX: "ptx", ELF: "cubin", LTO_IR: "lto_ir"}
ENTRIES_MAX = 4096
_ELF_MAGIC, _VERSION = b"\x7fELF", b".version"

_HEADER = struct.Struct("<IHHQ")
_ENTRY = struct.Struct("<HHIQI")
"""Kind, version, header bytes, payload bytes, compressed bytes."""
_ARCHITECTURE, _FLAGS, _RAW_BYTES = struct.Struct("<I"), struct.Struct("<Q"), struct.Struct("<Q")
_ARCHITECTURE_AT, _FLAGS_AT, _RAW_BYTES_AT, _ENTRY_BYTES_MIN = 28, 40, 56, 64


@dataclass(frozen=True)
class Entry:
    """Code of a fat binary: where it lies in the image, and how it is compressed. `architecture` is 90 for sm_90.

    The next entry begins at `end`.
    """

    begin: int
    stored: int
    raw_bytes: int
    method: Method | None
    kind: int
    architecture: int
    end: int

    def code(self, image: bytes) -> bytes:
        """Raises CodeError."""
        stored = image[self.begin : self.begin + self.stored]
        return stored if self.method is None else unpack(stored, self.method, self.raw_bytes)


def length_of(header: bytes) -> int:
    """Bytes of the fat binary that begins with this header; 0 if none does."""
    magic, _, header_bytes, payload_bytes = _HEADER.unpack(header)
    return int(header_bytes + payload_bytes) if magic == MAGIC else 0


def _is_fatbin(image: bytes) -> bool:
    return len(image) >= _HEADER.size and bool(length_of(image[: _HEADER.size]))


def entries(image: bytes) -> Iterator[Entry]:
    """All entries of a fat binary; none for other images."""
    if not _is_fatbin(image):
        return
    _, _, header_bytes, payload_bytes = _HEADER.unpack_from(image)
    at, end = header_bytes, min(len(image), header_bytes + payload_bytes)
    for _ in range(ENTRIES_MAX):
        if at + _ENTRY_BYTES_MIN > end:
            return
        kind, _, entry_header, payload, compressed = _ENTRY.unpack_from(image, at)
        if entry_header < _ENTRY_BYTES_MIN:
            return
        (architecture,) = _ARCHITECTURE.unpack_from(image, at + _ARCHITECTURE_AT)
        (flags,) = _FLAGS.unpack_from(image, at + _FLAGS_AT)
        (raw_bytes,) = _RAW_BYTES.unpack_from(image, at + _RAW_BYTES_AT)
        method = Method.ZSTD if flags & ZSTD else Method.LZ4 if flags & LZ4 else None
        stored = compressed if method and compressed else payload
        begin = at + entry_header
        at = begin + payload
        yield Entry(begin, stored, raw_bytes, method, kind, architecture, at)


def all_entries(image: bytes) -> list[Entry]:
    """All entries of a fat binary; none for other images. Raises CodeError if a driver might find further ones."""
    if not _is_fatbin(image):
        return []
    found = list(entries(image))
    if len(found) == ENTRIES_MAX:
        raise CodeError(f"may be behind {ENTRIES_MAX} others")
    end = found[-1].end if found else _HEADER.unpack_from(image)[2]
    if end > len(image) or any(image[end:]):
        raise CodeError("may be behind the last one that can be read")
    return found


def packed_codes(image: bytes, most: int = RAW_MAX) -> Iterator[bytes]:
    """The compressed entries of a fat binary, decompressed.

    Raises CodeError for an entry that is not readable(); and before anything is decompressed, if the entries declare
    more than `most` bytes, or as all_entries() does.
    """
    found = all_entries(image)
    packed = [entry for entry in found if entry.method is not None]
    declared = sum(entry.raw_bytes for entry in packed)
    if declared > most:
        raise CodeError(f"of {len(packed)} unpacks to {declared} bytes with the others; {most} are allowed")
    for entry in found:
        code = readable(entry, image)
        if entry.method is not None:
            yield code


def readable(entry: Entry, image: bytes) -> bytes:
    """The entry's code. Raises CodeError also if machine code or PTX looks like neither: a driver might know how to
    unpack it further."""
    code = entry.code(image)
    if (entry.kind == ELF and not code.startswith(_ELF_MAGIC)) or (
        entry.kind == PTX and _VERSION not in code
    ):
        raise CodeError("is not a cubin" if entry.kind == ELF else "is not PTX")
    return code
