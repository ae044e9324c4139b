"""The maps of a launch, as the shim hands them over, become a trace. All of it is hostile."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ...audit.decode import Probe
from ...audit.layout import ProbeUnit
from ..counted import read_counted
from ..trace_file import HEADER, SECTION
from .info import KernelInfo

MAP_ALIGNMENT = 256
"""Maps of a launch lie behind each other at multiples of it, in the shim's trace as in the file."""


@dataclass(frozen=True)
class LaunchMaps:
    """`text` is a trace in Neutrino's layout; `longest` has for each map the most entries that an item needed."""

    text: bytes
    longest: tuple[int, ...]


def read_maps(info: KernelInfo, record: Probe, data: memoryview) -> LaunchMaps | None:
    """None if the sizes do not fit the launch."""
    threads = record.block[0] * record.block[1] * record.block[2]
    shared_by = {
        ProbeUnit.THREAD: 1, ProbeUnit.WARP: 32, ProbeUnit.BLOCK: max(threads, 1), ProbeUnit.LAUNCH: 0,
        ProbeUnit.ALLOCATIONS: 0,
    }  # fmt: skip
    head = [HEADER.pack(*record.grid, *record.block, record.shared_bytes, len(info.maps))]
    at = HEADER.size + SECTION.size * len(info.maps)
    read = 0
    bodies, longest = [], []
    for each in info.maps:
        items = each.items(record.grid, record.block)
        item = record.table_bytes if each.unit is ProbeUnit.ALLOCATIONS else each.bytes
        if item > min(each.bytes, 0xFFFFFFFF) or shared_by[each.unit] > 0xFFFFFFFF:
            return None
        if each.is_counted:
            found = read_counted(data[read:], items, each.bytes)
            if found is None:
                return None
            item, size, body = found.capacity * each.bytes, found.size, found.entries + found.counts
            longest.append(max((count for (count,) in struct.iter_unpack("<I", found.counts)), default=0))
        else:
            size = items * item
            if read + size > len(data):
                return None
            body = bytes(data[read : read + size])
            longest.append(0)
        head.append(SECTION.pack(item, shared_by[each.unit], at))
        bodies.append(body)
        at += len(body)
        read += -(-size // MAP_ALIGNMENT) * MAP_ALIGNMENT
    return LaunchMaps(b"".join([*head, *bodies]), tuple(longest))
