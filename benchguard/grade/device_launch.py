"""Does code launch graphs from the device? A sibling of its launcher may outlive it, and so the end event.

A kernel that launches kernels is done only when those are (CUDA Programming Guide, Dynamic Parallelism), so it is
timed with them. A graph launched from the device as a sibling is not (Device Graph Launch). The driver binds such a
call by the function's name, so it is in the code as text; a name in an image that cannot be unpacked is no name, and
then the image cannot be loaded either.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import lz4.block
import zstandard

from ..capture import Capture

FATBIN_MAGIC = 0xBA55ED50
HEADER = struct.Struct("<IHHQ")
ENTRY = struct.Struct("<HHIQI")
"""kind, version, header bytes, payload bytes, compressed bytes: hook/core/image/fatbin.h."""
FLAGS, RAW_BYTES = struct.Struct("<Q"), struct.Struct("<Q")
FLAGS_AT, RAW_BYTES_AT, ENTRY_BYTES_MIN = 40, 56, 64
LZ4, ZSTD = 0x2000, 0x8000
ENTRIES_MAX = 4096
RAW_MAX = 1 << 30

NAMES = (b"cudaGraphLaunch", b"cnpGraphLaunch", b"GraphLaunchDevice")


def graph_launcher(capture: Capture) -> str:
    """The name by which some kernel's image launches graphs; empty if none does. Raises CaptureError."""
    used = {capture.modules[kernel.module].image for kernel in capture.kernels}
    for index in sorted(used):
        for code in codes_of(capture.image(index)):
            found = next((name for name in NAMES if name in code), None)
            if found is not None:
                return found.decode()
    return ""


def codes_of(image: bytes) -> Iterator[bytes]:
    """The image itself and what its fat binary has, unpacked. What cannot be unpacked is left out."""
    yield image
    if len(image) < HEADER.size or HEADER.unpack_from(image)[0] != FATBIN_MAGIC:
        return
    _, _, header_bytes, payload_bytes = HEADER.unpack_from(image)
    at, end = header_bytes, min(len(image), header_bytes + payload_bytes)
    for _ in range(ENTRIES_MAX):
        if at + ENTRY_BYTES_MIN > end:
            return
        _, _, entry_header, payload, compressed = ENTRY.unpack_from(image, at)
        (flags,) = FLAGS.unpack_from(image, at + FLAGS_AT)
        (raw_bytes,) = RAW_BYTES.unpack_from(image, at + RAW_BYTES_AT)
        begin = at + entry_header
        if flags & (LZ4 | ZSTD) and raw_bytes <= RAW_MAX:
            yield _unpacked(image[begin : begin + (compressed or payload)], flags, raw_bytes)
        if entry_header + payload == 0:
            return
        at = begin + payload


def _unpacked(data: bytes, flags: int, raw_bytes: int) -> bytes:
    try:
        if flags & ZSTD:
            return zstandard.ZstdDecompressor().decompress(data, max_output_size=raw_bytes)
        return bytes(lz4.block.decompress(data, uncompressed_size=raw_bytes))
    except (zstandard.ZstdError, lz4.block.LZ4BlockError, ValueError, MemoryError):
        return b""
