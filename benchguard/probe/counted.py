"""Maps of counted size: each item is a list, as long as the longest that a launch needed before.

On the device a map begins with struct nb_probe_counted (hook/core/wire/probe.h). A kernel counts each entry, and stores
those that fit. The first launch has no room: it measures.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from ..audit.layout import PROBE_COUNTED
from ..errors import UsageError
from .ptx import Function, Rewrite

ALIGNMENT = 256
_COUNT = 4


@dataclass(frozen=True)
class Slot:
    """The place of an entry. The snippet puts it into `address`; `fits` is true if the list has room for it."""

    snippet: str
    address: str
    fits: str


def new_entry(rewrite: Rewrite, function: Function, pointer: str, item: str, entry_bytes: int) -> Slot:
    """Count an entry of a list.

    Args:
        rewrite: The kernel.
        function: The function in which the snippet stands.
        pointer: The register of the map's pointer in this function.
        item: A .u64 register with the number of the list.
        entry_bytes: The bytes of an entry, as in the map.

    Returns:
        The snippet. Store the entry behind it, under the guard `fits`.
    """
    address, index, value = (rewrite.new_register(function, ".u64") for _ in range(3))
    count, fits = rewrite.new_register(function, ".u32"), rewrite.new_register(function, ".pred")
    snippet = (
        f"mad.lo.u64 {address}, {item}, {_COUNT}, {pointer};\n"
        f"atom.global.add.u32 {count}, [{address}+{PROBE_COUNTED.size}], 1;\n"
        f"cvt.u64.u32 {index}, {count};\n"
        f"ld.global.u64 {value}, [{pointer}];\n"
        f"setp.lt.u64 {fits}, {index}, {value};\n"
        f"mad.lo.u64 {index}, {item}, {value}, {index};\n"
        f"ld.global.u64 {value}, [{pointer}+8];\n"
        f"add.u64 {address}, {pointer}, {value};\n"
        f"mad.lo.u64 {address}, {index}, {entry_bytes}, {address};\n"
    )
    return Slot(snippet, address, fits)


@dataclass(frozen=True)
class CountedMap:
    """A map as the device left it. `size`: its bytes there; `counts` has 32 bits for each list."""

    capacity: int
    counts: bytes
    entries: bytes
    size: int


def read_counted(data: memoryview, items: int, entry_bytes: int) -> CountedMap | None:
    """Read a map from the begin of hostile bytes; None if they are too few."""
    if len(data) < PROBE_COUNTED.size:
        return None
    capacity, _ = PROBE_COUNTED.unpack_from(data)
    head = PROBE_COUNTED.size + _COUNT * items
    begin = -(-head // ALIGNMENT) * ALIGNMENT
    end = begin + items * capacity * entry_bytes
    if end > len(data) or capacity * entry_bytes > 0xFFFFFFFF:
        return None
    return CountedMap(capacity, bytes(data[PROBE_COUNTED.size : head]), bytes(data[begin:end]), end)


@dataclass(frozen=True)
class List:
    """The entries that a launch stored for an item, and the number that it needed."""

    entries: Sequence[bytes]
    needed: int


def read_lists(section: bytes, items: int, entry_bytes: int) -> tuple[List, ...]:
    """Read a counted map of a trace.

    Raises:
        UsageError: The map has another size.
    """
    capacity, rest = divmod(len(section) - _COUNT * items, items * entry_bytes) if items else (0, 0)
    if capacity < 0 or rest:
        raise UsageError(f"a counted map of {items} items has {len(section)} bytes")
    at = items * capacity * entry_bytes
    lists = []
    for item, (needed,) in enumerate(struct.iter_unpack("<I", section[at:])):
        first = item * capacity * entry_bytes
        ends = range(first, first + min(needed, capacity) * entry_bytes, entry_bytes)
        lists.append(List([section[each : each + entry_bytes] for each in ends], needed))
    return tuple(lists)
