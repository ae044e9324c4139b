"""Reads the map of violations that a probed kernel left. Its bytes are hostile."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from .check import ENTRY_BYTES, HEADER_BYTES, KEPT, MISALIGNED, SITE_BYTES, map_bytes

Dim3 = tuple[int, int, int]
_COUNT, _ENTRY = struct.Struct("<Q"), struct.Struct("<QQQII3I3I")
assert _ENTRY.size == ENTRY_BYTES


@dataclass(frozen=True)
class Violation:
    """An access of site number `site` that failed its check. `base` and `size` are of the nearest allocation."""

    site: int
    address: int
    bytes: int
    is_misaligned: bool
    thread: Dim3
    block: Dim3
    base: int
    size: int


def counts(raw: bytes) -> dict[int, int]:
    """The number of violations by site, without sites that have none."""
    sites = (len(raw) - HEADER_BYTES) // SITE_BYTES
    found = {site: _COUNT.unpack_from(raw, HEADER_BYTES + site * SITE_BYTES)[0] for site in range(sites)}
    return {site: count for site, count in found.items() if count}


def violations(raw: bytes) -> Iterator[Violation]:
    """The violations that were kept whole, by site."""
    for site, count in counts(raw).items():
        for number in range(min(count, KEPT)):
            at = HEADER_BYTES + site * SITE_BYTES + _COUNT.size + number * ENTRY_BYTES
            address, base, size, fault, length, *places = _ENTRY.unpack_from(raw, at)
            thread, block = (places[0], places[1], places[2]), (places[3], places[4], places[5])
            yield Violation(site, address, length, fault == MISALIGNED, thread, block, base, size)


__all__ = ["Violation", "counts", "map_bytes", "violations"]
