"""Decompresses code that compilers packed into images. The images may be hostile."""

from __future__ import annotations

import enum
import zlib

import lz4.block
import zstandard

RAW_MAX = 1 << 30
WINDOW_MAX = 1 << 27
"""The window that zstd itself accepts by default. It bounds what a frame of undeclared size allocates."""


class CodeError(Exception):
    """Code that cannot be read. The message says why."""


class Method(enum.Enum):
    ZLIB = 1
    ZSTD = 2
    LZ4 = 3


def unpack(data: bytes, method: Method, size: int) -> bytes:
    """Decompress to exactly `size` bytes. Raises CodeError."""
    if size > RAW_MAX:
        raise CodeError(f"unpacks to {size} bytes; at most {RAW_MAX} are read")
    try:
        raw = _UNPACK[method](data, size)
    except (zlib.error, zstandard.ZstdError, lz4.block.LZ4BlockError, ValueError, MemoryError) as error:
        raise CodeError(f"does not decompress: {error}") from error
    if len(raw) != size:
        raise CodeError(f"decompresses to {len(raw)} bytes instead of the declared {size}")
    return raw


def _unzlib(data: bytes, size: int) -> bytes:
    return zlib.decompressobj().decompress(data, size) if size else b""


def _unzstd(data: bytes, size: int) -> bytes:
    # The library allocates as much as the frame's header declares: compare that first.
    frame = zstandard.get_frame_parameters(data)
    if frame.content_size not in (size, zstandard.CONTENTSIZE_UNKNOWN):
        raise ValueError(f"the zstd frame holds {frame.content_size} bytes instead of {size}")
    if frame.window_size > max(WINDOW_MAX, size):
        raise ValueError(f"the zstd frame needs a window of {frame.window_size} bytes for {size}")
    return zstandard.ZstdDecompressor().decompress(data, max_output_size=size)


def _unlz4(data: bytes, size: int) -> bytes:
    return bytes(lz4.block.decompress(data, uncompressed_size=size))


_UNPACK = {Method.ZLIB: _unzlib, Method.ZSTD: _unzstd, Method.LZ4: _unlz4}
