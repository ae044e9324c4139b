"""Rewrites the raw captures after the last call, as code with the quarantine's rights can."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path

from benchguard.quarantine.runner.reporting import Reporter

HEADER, ELEMENT = struct.Struct("<QIIII"), struct.Struct("<IIQ")
DEVICE, IMAGE, MODULE, KERNEL, GLOBAL, ALLOCATION, BEFORE = 2, 4, 5, 6, 7, 8, 9
OPERATION, REFUSAL, META, END = 12, 15, 17, 18
LAUNCH = 1
Elements = list[tuple[int, bytearray]]


def after_recording(change: Callable[[Elements], Elements]) -> None:
    """`change` gets the elements of each raw capture, and returns those to write."""
    finish = Reporter.finish

    def forged(self: Reporter) -> None:
        for path in Path(os.environ["NEUTRINO_CAPTURE"]).glob("*.nrec"):
            raw = path.read_bytes()
            path.write_bytes(raw[: HEADER.size] + joined(change(elements_of(raw))))
        finish(self)

    Reporter.finish = forged


def elements_of(raw: bytes) -> Elements:
    found, at = [], HEADER.size
    while at < len(raw):
        kind, _, size = ELEMENT.unpack_from(raw, at)
        at += ELEMENT.size
        found.append((kind, bytearray(raw[at : at + size])))
        at += size
    return found


def joined(elements: Elements) -> bytes:
    return b"".join(ELEMENT.pack(kind, 0, len(payload)) + payload for kind, payload in elements)


def padded(payload: bytes) -> bytearray:
    return bytearray(payload + bytes(-len(payload) % 8))


def first(elements: Elements, kind: int) -> bytearray:
    return next(payload for each, payload in elements if each == kind)


def is_launch(kind: int, payload: bytearray) -> bool:
    return kind == OPERATION and payload[:4] == LAUNCH.to_bytes(4, "little")


def with_span(payload: bytearray, field: int, data: bytes) -> bytearray:
    """Append small data, and have the span at offset `field` name it."""
    changed = padded(bytes(payload))
    struct.pack_into("<QQ", changed, field, len(changed), len(data))
    return padded(bytes(changed) + data)


def with_operations(elements: Elements, more: list[bytearray]) -> Elements:
    """Append operations before the end, which says their number."""
    *head, (kind, end) = elements
    status, count = struct.unpack_from("<II", end)
    struct.pack_into("<II", end, 0, status, count + len(more))
    return [*head, *((OPERATION, each) for each in more), (kind, end)]
