"""A capture taken apart, to be put together again with something wrong in it and every hash right."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

import zstandard

from benchguard.capture.layout import (
    BLOB,
    BLOB_MAX,
    CAPTURE,
    CAPTURE_MAGIC,
    ELEMENTS,
    OPERATIONS,
    SECTION,
    VERSION,
    Compression,
    Kind,
    Layout,
    OperationKind,
)


@dataclass
class Blob:
    """`raw` is what it is said to hold; `stored` and the rest follow from it unless they are given."""

    raw: bytes
    stored: bytes | None = None
    compression: int = Compression.NONE
    offset: int | None = None
    stored_bytes: int | None = None
    raw_bytes: int | None = None
    sha256: bytes | None = None


@dataclass
class Section:
    kind: int
    element_bytes: int
    count: int
    first_blob: int
    blob_count: int


class Altered:
    """`header` overrides fields of struct nb_capture by their names."""

    def __init__(self, path: Path) -> None:
        raw = path.read_bytes()
        header = dict(
            zip((field.name for field in CAPTURE.fields), CAPTURE.struct.unpack_from(raw), strict=True)
        )
        self.header: dict[str, int | bytes] = {}
        self.behind = b""
        self.blobs = []
        for i in range(header["blob_count"]):
            _, offset, stored, size, compression, _ = BLOB.struct.unpack_from(
                raw, header["blob_offset"] + i * BLOB.size
            )
            data = raw[offset : offset + stored]
            if compression == Compression.ZSTD:
                data = zstandard.ZstdDecompressor().decompress(data, max_output_size=size)
            self.blobs.append(Blob(data))
        self.sections = [
            Section(*SECTION.struct.unpack_from(raw, header["section_offset"] + i * SECTION.size))
            for i in range(header["section_count"])
        ]

    def section(self, kind: Kind) -> Section:
        return next(each for each in self.sections if each.kind == kind)

    def table(self, kind: Kind) -> bytes:
        section = self.section(kind)
        return b"".join(b.raw for b in self.blobs[section.first_blob :][: section.blob_count])

    def replace_table(self, kind: Kind, raw: bytes) -> None:
        """Its blobs come behind all others."""
        size = ELEMENTS[kind].size if kind in ELEMENTS else 1
        pieces = [raw[at : at + BLOB_MAX] for at in range(0, len(raw), BLOB_MAX)]
        values = Section(kind, size, len(raw) // size, len(self.blobs) if raw else 0, len(pieces))
        self.blobs += [Blob(piece) for piece in pieces]
        self.sections = [values if each.kind == kind else each for each in self.sections]
        if values not in self.sections:
            self.sections.append(values)

    def set(self, kind: Kind, index: int, field: str, *values: int | bytes) -> None:
        """Fields that are several values take several: a span or a content is an offset and a size."""
        raw = bytearray(self.table(kind))
        at = index * ELEMENTS[kind].size
        layout = _layout(kind, raw, at)
        named = next(each for each in layout.fields if each.name == field)
        position = at + layout.offsets[field]
        for value in values:
            size = named.bytes // max(named.values, len(values))
            raw[position : position + size] = (
                value if isinstance(value, bytes) else value.to_bytes(size, "little")
            )
            position += size
        self.replace_table(kind, bytes(raw))

    def get(self, kind: Kind, index: int, field: str) -> int:
        raw = self.table(kind)
        at = index * ELEMENTS[kind].size
        layout = _layout(kind, raw, at)
        named = next(each for each in layout.fields if each.name == field)
        position = at + layout.offsets[field]
        return int.from_bytes(raw[position : position + named.bytes // named.values], "little")

    def append(self, kind: Kind, raw: bytes) -> None:
        known = any(each.kind == kind for each in self.sections)
        self.replace_table(kind, (self.table(kind) if known else b"") + raw)

    def duplicate(self, kind: Kind, index: int = 0) -> None:
        """Append an element again."""
        size = ELEMENTS[kind].size
        self.append(kind, self.table(kind)[index * size :][:size])

    def bytes(self) -> bytes:
        data = bytearray(CAPTURE.size)
        entries = bytearray()
        for blob in self.blobs:
            stored = blob.raw if blob.stored is None else blob.stored
            entries += BLOB.struct.pack(
                hashlib.sha256(blob.raw).digest() if blob.sha256 is None else blob.sha256,
                len(data) if blob.offset is None else blob.offset,
                len(stored) if blob.stored_bytes is None else blob.stored_bytes,
                len(blob.raw) if blob.raw_bytes is None else blob.raw_bytes,
                blob.compression,
                0,
            )
            data += stored
        data += bytes(-len(data) % 8)
        blob_offset = len(data)
        data += entries
        section_offset = len(data)
        table = b"".join(
            SECTION.struct.pack(s.kind, s.element_bytes, s.count, s.first_blob, s.blob_count)
            for s in self.sections
        )
        data += table + self.behind
        header: dict[str, int | bytes] = {
            "magic": CAPTURE_MAGIC,
            "version": VERSION,
            "section_count": len(self.sections),
            "file_bytes": len(data),
            "blob_offset": blob_offset,
            "blob_count": len(self.blobs),
            "reserved": 0,
            "section_offset": section_offset,
            "sha256": hashlib.sha256(entries + table).digest(),
        }
        data[: CAPTURE.size] = CAPTURE.struct.pack(*{**header, **self.header}.values())
        return bytes(data)

    def write(self, path: Path) -> Path:
        path.write_bytes(self.bytes())
        return path


def compressed(raw: bytes, checksum: bool = True, content_size: bool = True) -> bytes:
    compressor = zstandard.ZstdCompressor(write_checksum=checksum, write_content_size=content_size)
    result: bytes = compressor.compress(raw)
    return result


def noise(size: int) -> bytes:
    return os.urandom(size)


def _layout(kind: Kind, raw: bytes | bytearray, at: int) -> Layout:
    if kind is not Kind.OPERATION:
        return ELEMENTS[kind]
    return OPERATIONS[OperationKind(int.from_bytes(raw[at : at + 4], "little"))]
