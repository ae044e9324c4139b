"""The blobs of a capture file: checked when the file is opened, read and decompressed one at a time."""

from __future__ import annotations

import hashlib
import os
from array import array
from collections.abc import Iterator

import zstandard

from .codec import MalformedError
from .layout import BLOB, BLOB_MAX, CAPTURE, Compression
from .model import Content

# RFC 8878, 3.1.1: the fifth byte says that a checksum follows, and in two bits whether a dictionary is needed.
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
ZSTD_FLAGS, ZSTD_CHECKSUM = 0x07, 0x04


class Blobs:
    """`entries` is the blob table as the file has it. Raises MalformedError, for every entry, if it cannot be."""

    def __init__(self, descriptor: int, file_bytes: int, entries: bytes) -> None:
        self._descriptor = descriptor
        self._entries = entries
        self._decompressor = zstandard.ZstdDecompressor()
        self.count = len(entries) // BLOB.size
        self.stored_bytes = 0
        self.raw_bytes = 0
        # The first blob from each on that is not of the greatest size: a content's length is checked in one step.
        self._short = array("I", bytes(4 * self.count))
        seen: set[int] = set()
        sizes = array("I")
        for index, (_, offset, stored, raw, compression, _) in enumerate(BLOB.struct.iter_unpack(entries)):
            if not CAPTURE.size <= offset <= file_bytes - stored:
                raise MalformedError(f"blob {index}: {stored} bytes at {offset} are not in the file")
            if not 0 < raw <= BLOB_MAX:
                raise MalformedError(f"blob {index}: {raw} bytes, where 1 to {BLOB_MAX} are allowed")
            if compression not in (Compression.NONE, Compression.ZSTD):
                raise MalformedError(f"blob {index}: unknown compression {compression}")
            if not 0 < stored <= raw or (stored == raw) != (compression == Compression.NONE):
                raise MalformedError(f"blob {index}: {stored} bytes cannot hold {raw}")
            sizes.append(raw)
            self.raw_bytes += raw
            if offset not in seen:
                seen.add(offset)
                self.stored_bytes += stored
        short = self.count
        for index in range(self.count - 1, -1, -1):
            short = index if sizes[index] != BLOB_MAX else short
            self._short[index] = short

    def check(self, content: Content) -> None:
        """Raises MalformedError unless the content is whole blobs of the right sizes."""
        if not content.bytes:
            return
        last = content.first + (content.bytes - 1) // BLOB_MAX
        if last >= self.count:
            raise MalformedError(
                f"content of {content.bytes} bytes from blob {content.first} on; there are {self.count}"
            )
        size = BLOB.struct.unpack_from(self._entries, last * BLOB.size)[3]
        if self._short[content.first] < last or size != content.bytes - (last - content.first) * BLOB_MAX:
            raise MalformedError(
                f"content of {content.bytes} bytes from blob {content.first} on: the blobs' sizes differ"
            )

    def read(self, index: int) -> bytes:
        """The raw bytes of one blob, which are what its SHA-256 says. Raises MalformedError."""
        digest, offset, stored, size, compression, _ = BLOB.struct.unpack_from(
            self._entries, index * BLOB.size
        )
        data = os.pread(self._descriptor, stored, offset)
        if len(data) != stored:
            raise MalformedError(f"blob {index}: the file became shorter")
        if compression == Compression.ZSTD:
            data = self._decompressed(index, data, size)
        if hashlib.sha256(data).digest() != digest:
            raise MalformedError(f"blob {index}: its bytes are not those that its SHA-256 was taken of")
        return data

    def chunks(self, content: Content) -> Iterator[bytes]:
        """A content that was checked, blob by blob."""
        for index in range(content.first, content.first + (content.bytes + BLOB_MAX - 1) // BLOB_MAX):
            yield self.read(index)

    def _decompressed(self, index: int, data: bytes, size: int) -> bytes:
        if data[:4] != ZSTD_MAGIC or len(data) < 5 or data[4] & ZSTD_FLAGS != ZSTD_CHECKSUM:
            raise MalformedError(f"blob {index}: not a zstd frame with a checksum")
        # The library allocates what a frame says of its size: that is looked at first.
        try:
            if zstandard.frame_content_size(data) != size:
                raise MalformedError(f"blob {index}: its frame is not of {size} bytes")
            return self._decompressor.decompress(data, max_output_size=size, allow_extra_data=False)
        except zstandard.ZstdError as error:
            raise MalformedError(f"blob {index}: cannot be decompressed ({error})") from None
