"""Code as hipcc packs it: clang offload bundles, plain and compressed (hook/core/image/bundle.h). Hostile input."""

from __future__ import annotations

import struct

from .unpack import CodeError, Method, unpack

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
COMPRESSED_MAGIC = b"CCOB"
ENTRIES_MAX = 4096
ID_MAX = 4096

_COUNT, _ENTRY = struct.Struct("<Q"), struct.Struct("<QQQ")
_START = struct.Struct("<4sHH")
_HEADERS = {1: struct.Struct("<IQ"), 2: struct.Struct("<IIQ"), 3: struct.Struct("<QQQ")}
"""By version: the size of everything (not in version 1), the raw size, a hash."""
_METHODS = {0: Method.ZLIB, 1: Method.ZSTD}


def codes_of(image: bytes) -> list[tuple[str, bytes]]:
    """Device code in an image, with the ids of a bundle's entries. An image that is not a bundle is its own code, with
    the id "".
    """
    bundle = _unpacked(image) if image.startswith(COMPRESSED_MAGIC) else image
    if not bundle.startswith(MAGIC):
        if bundle is not image:
            raise CodeError("the compressed bundle does not hold an offload bundle")
        return [("", image)]
    return [
        (name, bundle[begin : begin + size])
        for name, begin, size in _entries(bundle)
        if size and name[:5] != "host-"
    ]


def _entries(bundle: bytes) -> list[tuple[str, int, int]]:
    at = len(MAGIC) + _COUNT.size
    if len(bundle) < at or (count := _COUNT.unpack_from(bundle, len(MAGIC))[0]) > ENTRIES_MAX:
        raise CodeError("the offload bundle has an impossible number of entries")
    entries = []
    for _ in range(count):
        if at + _ENTRY.size > len(bundle):
            raise CodeError("the offload bundle is cut short")
        begin, size, length = _ENTRY.unpack_from(bundle, at)
        at += _ENTRY.size
        if length > ID_MAX or at + length > len(bundle) or begin + size > len(bundle):
            raise CodeError("an entry of the offload bundle lies outside it")
        entries.append((bundle[at : at + length].decode("utf-8", "replace"), begin, size))
        at += length
    if sum(size for _, _, size in entries) > len(bundle):
        raise CodeError("entries of the offload bundle overlap")
    return entries


def _unpacked(image: bytes) -> bytes:
    if len(image) < _START.size:
        raise CodeError("the compressed bundle is cut short")
    _, version, method = _START.unpack_from(image)
    header = _HEADERS.get(version)
    if header is None or len(image) < _START.size + header.size:
        raise CodeError(f"the compressed bundle is cut short or has the unknown version {version}")
    *total, raw_bytes, _ = header.unpack_from(image, _START.size)
    begin, end = _START.size + header.size, total[0] if total else len(image)
    if not begin <= end <= len(image):
        raise CodeError("the compressed bundle declares an impossible size")
    if method not in _METHODS:
        raise CodeError(f"the compressed bundle is packed by an unknown method ({method})")
    try:
        return unpack(image[begin:end], _METHODS[method], raw_bytes)
    except CodeError as error:
        raise CodeError(f"the compressed bundle {error}") from error
