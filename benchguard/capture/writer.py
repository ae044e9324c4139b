"""Writes a capture file: blobs as they come, tables at the end, and only then under its own name.

    with CaptureWriter(path) as writer:
        image = writer.add(Image(..., content=writer.content(ptx)))
        writer.add_run(Kind.BEFORE, address, memory)

The writer checks only that values fit into the format; Capture.open checks the rest. Blobs are hashed and
compressed by threads, since hashlib and zstandard let others run meanwhile; their order, and so the file, does
not depend on that.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import zstandard

from .codec import MODELS, OPERATION_MODELS, encode
from .errors import CaptureError
from .layout import (
    BLOB,
    BLOB_MAX,
    BLOBS_MAX,
    CAPTURE,
    CAPTURE_MAGIC,
    ELEMENTS,
    SECTION,
    TABLE_MAX,
    VERSION,
    Compression,
    Kind,
)
from .model import NO_CONTENT, Content, Run

ZSTD_LEVEL = 3
WORKERS_MAX = 8
SAMPLE = 1 << 14

_KINDS: dict[type, Kind] = {MODELS[layout]: kind for kind, layout in ELEMENTS.items() if layout in MODELS}
_KINDS |= dict.fromkeys(OPERATION_MODELS.values(), Kind.OPERATION)
_thread = threading.local()


class CaptureWriter:
    """`path` appears, whole, when the with-block ends well; otherwise nothing is left.

    `check` is given the finished file under another name, and may refuse it by an exception.
    """

    def __init__(self, path: Path, check: Callable[[Path], None] | None = None) -> None:
        self.path = path
        self._check = check
        self._temporary = path.with_name(f".{path.name}.{os.getpid()}")
        self._tables: dict[Kind, bytearray] = {}
        self._spans: dict[bytes, int] = {}
        self._data = bytearray()
        self._blobs = bytearray()
        self._places: dict[bytes, tuple[int, int, int]] = {}
        self._count = 0
        self._workers = min(WORKERS_MAX, len(os.sched_getaffinity(0)))
        self._pool = ThreadPoolExecutor(self._workers)
        self._pending: deque[Future[tuple[bytes, int, bytes]]] = deque()
        try:
            self._file: BinaryIO = self._temporary.open("xb", buffering=1 << 20)
            self._at = self._file.write(bytes(CAPTURE.size))
        except OSError as error:
            raise self._failed(error) from error

    def __enter__(self) -> CaptureWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._finish()
        finally:
            self._pool.shutdown(cancel_futures=True)
            with contextlib.suppress(OSError):
                self._file.close()
            self._temporary.unlink(missing_ok=True)

    def content(self, raw: bytes | memoryview) -> Content:
        """Store bulk data."""
        if not raw:
            return NO_CONTENT
        first = self._count
        for at in range(0, len(raw), BLOB_MAX):
            self.blob(raw[at : at + BLOB_MAX])
        return Content(first, len(raw))

    def content_of(self, chunks: Iterable[bytes], size: int) -> Content:
        """Store bulk data that comes in pieces of NB_BLOB_MAX, `size` bytes in all."""
        content = Content(self._count, size) if size else NO_CONTENT
        for chunk in chunks:
            self.blob(chunk)
        return content

    def blob(self, raw: bytes | memoryview) -> int:
        """Store at most NB_BLOB_MAX bytes; returns the blob's index."""
        if self._count == BLOBS_MAX:
            raise CaptureError(f"{self.path}: more than {BLOBS_MAX} blobs; record a smaller region")
        self._pending.append(self._pool.submit(_prepare, raw, self._places))
        self._count += 1
        if len(self._pending) > 4 * self._workers:
            self._write_blob()
        return self._count - 1

    def span(self, raw: bytes) -> tuple[int, int]:
        """Store small data; returns its offset and size."""
        if not raw:
            return 0, 0
        if raw not in self._spans:
            self._data += bytes(-len(self._data) % 8)
            self._spans[raw] = len(self._data)
            self._data += raw
            self._bound(len(self._data))
        return self._spans[raw], len(raw)

    def add(self, element: Any) -> int:
        """Append an element of benchguard.capture.model to its table; returns its index. Runs: add_run."""
        kind = _KINDS[type(element)]
        return self.add_raw(kind, encode(kind, element, self.span))

    def add_run(self, kind: Kind, address: int, raw: bytes | memoryview | None, size: int = 0) -> Content:
        """Append memory content to BEFORE or AFTER; None: `size` bytes that became zero."""
        content = self.content(raw) if raw is not None else NO_CONTENT
        run = Run(address, size if raw is None else len(raw), content)
        self.add_raw(kind, encode(kind, run, self.span))
        return content

    def add_run_again(self, kind: Kind, address: int, content: Content) -> None:
        """Append memory with a content that add_run() gave."""
        self.add_raw(kind, encode(kind, Run(address, content.bytes, content), self.span))

    def add_raw(self, kind: Kind, raw: bytes) -> int:
        """Append an element as the file has it."""
        table = self._tables.setdefault(kind, bytearray())
        table += raw
        self._bound(len(table))
        return len(table) // len(raw) - 1

    def _bound(self, size: int) -> None:
        if size > TABLE_MAX:
            raise CaptureError(f"{self.path}: a table larger than {TABLE_MAX} bytes; record a smaller region")

    def _write_blob(self) -> None:
        digest, size, stored = self._pending.popleft().result()
        place = self._places.get(digest)
        if place is None:
            compression = Compression.NONE if len(stored) == size else Compression.ZSTD
            place = self._places[digest] = (self._at, len(stored), compression)
            self._write(stored)
        offset, stored_bytes, compression_used = place
        self._blobs += BLOB.struct.pack(digest, offset, stored_bytes, size, compression_used, 0)

    def _write(self, raw: bytes) -> None:
        try:
            self._file.write(raw)
        except OSError as error:
            raise self._failed(error) from error
        self._at += len(raw)

    def _finish(self) -> None:
        sections = bytearray()
        tables = {Kind.DATA: self._data, **self._tables}
        for kind, table in sorted(tables.items()):
            size = ELEMENTS[kind].size if kind in ELEMENTS else 1
            content = self.content(bytes(table))
            blobs = (content.bytes + BLOB_MAX - 1) // BLOB_MAX
            sections += SECTION.struct.pack(kind, size, len(table) // size, content.first, blobs)
        while self._pending:
            self._write_blob()
        self._write(bytes(-self._at % 8))
        blob_offset = self._at
        self._write(bytes(self._blobs))
        section_offset = self._at
        self._write(bytes(sections))
        name = hashlib.sha256(self._blobs + sections).digest()
        header = CAPTURE.struct.pack(
            CAPTURE_MAGIC, VERSION, len(tables), self._at, blob_offset, self._count, 0, section_offset, name
        )
        try:
            self._file.seek(0)
            self._file.write(header)
            self._file.close()
            if self._check is not None:
                self._check(self._temporary)
            self._temporary.replace(self.path)
        except OSError as error:
            raise self._failed(error) from error

    def _failed(self, error: OSError) -> CaptureError:
        return CaptureError(
            f"cannot write the capture {self.path}: {error.strerror}; free some space or name another path"
        )


def _prepare(raw: bytes | memoryview, known: dict[bytes, tuple[int, int, int]]) -> tuple[bytes, int, bytes]:
    """Hash, size, and what is stored: nothing worth having if the blob is known."""
    digest = hashlib.sha256(raw).digest()
    if digest in known:
        return digest, len(raw), b""
    if not hasattr(_thread, "compressor"):
        _thread.compressor = zstandard.ZstdCompressor(
            level=ZSTD_LEVEL, write_checksum=True, write_content_size=True
        )
    compressed = _compressed(raw, _thread.compressor)
    return digest, len(raw), compressed if compressed is not None else bytes(raw)


def _compressed(raw: bytes | memoryview, compressor: zstandard.ZstdCompressor) -> bytes | None:
    """The compressed bytes, or None if they are more than seven eighths of the raw ones.

    Device memory is full of random numbers, which save 7 % and take longer to decompress than to read. Three samples
    are compressed before the whole is.
    """
    size = len(raw)
    if size > 8 * SAMPLE:
        places = (0, (size - SAMPLE) // 2, size - SAMPLE)
        samples = b"".join(raw[at : at + SAMPLE] for at in places)
        if len(compressor.compress(samples)) > len(samples) * 7 // 8:
            return None
    compressed: bytes = compressor.compress(raw)
    return compressed if len(compressed) <= size * 7 // 8 else None
