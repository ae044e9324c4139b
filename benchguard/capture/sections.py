"""From a file to its tables, as bytes: header, blob table, section table. Raises MalformedError."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass

from .blobs import Blobs
from .codec import MalformedError
from .layout import (
    BLOB,
    BLOB_MAX,
    BLOBS_MAX,
    CAPTURE,
    CAPTURE_MAGIC,
    ELEMENTS,
    RECORDING_MAGIC,
    SECTION,
    TABLE_MAX,
    VERSION,
    Kind,
)
from .model import Content

SECTIONS_MAX = 64
_UNCOUNTED = (Kind.DATA, Kind.BEFORE, Kind.AFTER)


@dataclass(frozen=True)
class Limits:
    """How much a capture may ask of its reader. The file's own size bounds little: zeros compress well."""

    table_bytes: int = 512 << 20
    elements: int = 1 << 20  # beside runs of memory, which are cheap
    content_bytes: int = 16 << 30


@dataclass(frozen=True)
class Sections:
    name: str
    blobs: Blobs
    tables: dict[Kind, bytes]


def read_sections(descriptor: int, limits: Limits) -> Sections:
    """Everything but bulk data."""
    file_bytes = os.fstat(descriptor).st_size
    header = os.pread(descriptor, CAPTURE.size, 0)
    if len(header) < CAPTURE.size:
        raise MalformedError(f"{file_bytes} bytes are too few for a capture")
    magic, version, sections, said_bytes, blob_offset, blobs, _, section_offset, digest = (
        CAPTURE.struct.unpack(header)
    )
    if magic == RECORDING_MAGIC:
        raise MalformedError("a recording that was not packed")
    if magic != CAPTURE_MAGIC:
        raise MalformedError("not a capture")
    if version != VERSION:
        raise MalformedError(f"version {version} of the format, but this program reads {VERSION}")
    if said_bytes != file_bytes:
        raise MalformedError(f"{file_bytes} bytes long, but {said_bytes} were written")
    if blobs > BLOBS_MAX or sections > SECTIONS_MAX:
        raise MalformedError(f"{blobs} blobs and {sections} sections are too many")
    blob_table = _read(descriptor, file_bytes, blob_offset, blobs * BLOB.size, "blob table")
    section_table = _read(descriptor, file_bytes, section_offset, sections * SECTION.size, "section table")
    if hashlib.sha256(blob_table + section_table).digest() != digest:
        raise MalformedError("its tables are not those that its SHA-256 was taken of")
    store = Blobs(descriptor, file_bytes, blob_table)
    return Sections(digest.hex(), store, _read_tables(store, section_table, limits))


def _read_tables(blobs: Blobs, section_table: bytes, limits: Limits) -> dict[Kind, bytes]:
    tables: dict[Kind, bytes] = {}
    seen: set[int] = set()
    left, elements_left = limits.table_bytes, limits.elements
    for number, element_bytes, count, first, blob_count in SECTION.struct.iter_unpack(section_table):
        if number in seen:
            raise MalformedError(f"two sections of kind {number}")
        seen.add(number)
        if number not in Kind.__members__.values():
            continue
        kind = Kind(number)
        where = f"section {kind.name.lower()}"
        size = ELEMENTS[kind].size if kind in ELEMENTS else 1
        if element_bytes != size:
            raise MalformedError(f"{where}: elements of {element_bytes} bytes instead of {size}")
        content = Content(first, count * size)
        if content.bytes > TABLE_MAX or blob_count != -(-content.bytes // BLOB_MAX):
            raise MalformedError(f"{where}: {count} elements in {blob_count} blobs")
        left -= content.bytes
        elements_left -= count if kind not in _UNCOUNTED else 0
        if left < 0:
            raise MalformedError(f"{where}: the tables are more than {limits.table_bytes} bytes")
        if elements_left < 0:
            raise MalformedError(f"{where}: there are more than {limits.elements} elements")
        try:
            blobs.check(content)
        except MalformedError as error:
            raise MalformedError(f"{where}: {error}") from None
        tables[kind] = b"".join(blobs.chunks(content))
    return tables


def _read(descriptor: int, file_bytes: int, offset: int, size: int, what: str) -> bytes:
    if offset % 8 or offset < CAPTURE.size or offset + size > file_bytes:
        raise MalformedError(f"{what}: {size} bytes at {offset} are not in the file")
    raw = os.pread(descriptor, size, offset)
    if len(raw) != size:
        raise MalformedError(f"{what}: the file became shorter")
    return raw
