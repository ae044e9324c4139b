"""The blobs of a capture file, read and decompressed one at a time."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator

import zstandard

from .codec import MalformedError
from .layout import BLOB, BLOB_MAX, Compression
from .model import Content

# RFC 8878, 3.1.1: the fifth byte says that a checksum follows, and in two bits whether a dictionary is needed.
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
ZSTD_FLAGS, ZSTD_CHECKSUM = 0x07, 0x04


class Blobs:
    """`entries` is the validated blob table. Raises MalformedError for a blob whose bytes are not as the table says."""

    def __init__(self, descriptor: int, entries: bytes) -> None:
        self._descriptor = descriptor
        self._entries = entries
        self._decompressor = zstandard.ZstdDecompressor()
        self.count = len(entries) // BLOB.size

    @property
    def raw_bytes(self) -> int:
        """Decompressed bytes of all blobs."""
        return sum(raw for _, _, _, raw, _, _ in BLOB.struct.iter_unpack(self._entries))

    @property
    def stored_bytes(self) -> int:
        """Bytes of the file that blobs share or own."""
        return sum(stored for _, stored in self.places())

    def places(self) -> set[tuple[int, int]]:
        """Offset and size in the file of each stored blob."""
        return {(offset, stored) for _, offset, stored, *_ in BLOB.struct.iter_unpack(self._entries)}

    def read(self, index: int) -> bytes:
        """The decompressed bytes of one blob, compared with its SHA-256."""
        if not 0 <= index < self.count:
            raise MalformedError(f"blob {index} does not exist; the capture has {self.count}")
        digest, offset, stored, size, compression, _ = BLOB.struct.unpack_from(
            self._entries, index * BLOB.size
        )
        data = os.pread(self._descriptor, stored, offset) if stored <= BLOB_MAX and offset < 1 << 63 else b""
        if not data or len(data) != stored or size > BLOB_MAX:
            raise MalformedError(f"blob {index}: the file became shorter")
        if compression == Compression.ZSTD:
            data = self._decompressed(index, data, size)
        if hashlib.sha256(data).digest() != digest:
            raise MalformedError(f"blob {index}: its bytes do not match its SHA-256")
        return data

    def chunks(self, content: Content) -> Iterator[bytes]:
        """A content, blob by blob."""
        for index in range(content.first, content.first + (content.bytes + BLOB_MAX - 1) // BLOB_MAX):
            yield self.read(index)

    def _decompressed(self, index: int, data: bytes, size: int) -> bytes:
        if data[:4] != ZSTD_MAGIC or len(data) < 5 or data[4] & ZSTD_FLAGS != ZSTD_CHECKSUM:
            raise MalformedError(f"blob {index}: not a zstd frame with a checksum")
        # The library allocates as much as the frame's header says: compare that first.
        try:
            if zstandard.frame_content_size(data) != size:
                raise MalformedError(f"blob {index}: its zstd frame does not hold {size} bytes")
            return self._decompressor.decompress(data, max_output_size=size, allow_extra_data=False)
        except zstandard.ZstdError as error:
            raise MalformedError(f"blob {index}: cannot be decompressed ({error})") from None
