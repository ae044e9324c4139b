"""The file kernel.info, by which an engine describes the probed kernel (docs/probes.md)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...audit.layout import PROBE_MAPS_MAX, PROBE_ROW, PROBE_TABLE, ProbeUnit
from ...errors import BenchguardError

INFO_BYTES_MAX = 4 << 20
MAP_BYTES_MAX = 1 << 40
TABLE_BYTES_MIN, TABLE_BYTES_MAX = PROBE_TABLE.size + PROBE_ROW.size, 1 << 26
ENTRY_BYTES_MAX = 1 << 20
_NAME = re.compile(r"[A-Za-z_$%.][\w$%.]*", re.ASCII)
_WHERE = "kernel.info"


@dataclass(frozen=True)
class Map:
    """Memory that the probed kernel fills: `bytes` for each of the launch's units.

    `is_counted`: each unit has a list instead, of entries of `bytes`; a launch counts how many it needs.
    """

    unit: ProbeUnit
    bytes: int
    is_counted: bool = False

    def items(self, grid: tuple[int, int, int], block: tuple[int, int, int]) -> int:
        """The number of regions of a launch."""
        blocks, threads = grid[0] * grid[1] * grid[2], block[0] * block[1] * block[2]
        if self.unit in (ProbeUnit.LAUNCH, ProbeUnit.ALLOCATIONS):
            return 1
        per_block = {ProbeUnit.THREAD: threads, ProbeUnit.WARP: -(-threads // 32)}
        return blocks * per_block.get(self.unit, 1)


@dataclass(frozen=True)
class KernelInfo:
    """`parameters` counts those of the original; each of `addresses` is (symbol, variable)."""

    name: str
    parameters: int
    maps: tuple[Map, ...]
    addresses: tuple[tuple[str, str], ...]


def parse_info(data: bytes, kernel: str) -> KernelInfo:
    """Read the file for the kernel that was asked for. Raises BenchguardError."""
    if len(data) > INFO_BYTES_MAX:
        raise BenchguardError(f"{_WHERE} has more than {INFO_BYTES_MAX} bytes")
    try:
        lines = data.decode().splitlines()
    except UnicodeDecodeError:
        raise BenchguardError(f"{_WHERE} is not text") from None
    if len(lines) < 3:
        raise BenchguardError(f"{_WHERE} has {len(lines)} lines; it needs the kernel's name and two counts")
    if lines[0] != kernel:
        raise BenchguardError(f"{_WHERE} describes another kernel: {lines[0][:200]}")
    parameters, count = _number(lines[1], 4096, "parameters"), _number(lines[2], PROBE_MAPS_MAX, "maps")
    if len(lines) < 3 + count:
        raise BenchguardError(f"{_WHERE} lacks a line for each of its {count} maps")
    maps = tuple(_map(line) for line in lines[3 : 3 + count])
    if sum(each.unit is ProbeUnit.ALLOCATIONS for each in maps) > 1:
        raise BenchguardError(f"{_WHERE} has more than one table of allocations (type 4)")
    addresses = tuple(_address(line) for line in lines[3 + count :] if line)
    return KernelInfo(kernel, parameters, maps, addresses)


def _number(text: str, most: int, what: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 15 or int(text) > most:
        raise BenchguardError(f"{_WHERE}: {text[:40]!r} is not a number of {what} up to {most}")
    return int(text)


def _map(line: str) -> Map:
    unit, _, rest = line.partition(",")
    size, _, mark = (word.strip() for word in rest.partition(","))
    if size == "-1" or mark not in ("", "counted"):
        raise BenchguardError(f"{_WHERE}: write a map of counted size as TYPE,BYTES_OF_AN_ENTRY,counted")
    number = _number(unit.strip(), 4, "a map's type")
    found = Map(ProbeUnit(number), _number(size, MAP_BYTES_MAX, "bytes of a map"), bool(mark))
    if found.is_counted and (found.unit is ProbeUnit.ALLOCATIONS or not 1 <= found.bytes <= ENTRY_BYTES_MAX):
        raise BenchguardError(
            f"{_WHERE}: a counted map is of type 0 to 3, and has entries of 1 to {ENTRY_BYTES_MAX:,} bytes"
        )
    if found.unit is ProbeUnit.ALLOCATIONS and not TABLE_BYTES_MIN <= found.bytes <= TABLE_BYTES_MAX:
        raise BenchguardError(
            f"{_WHERE}: a table of allocations (type 4) has {TABLE_BYTES_MIN} to {TABLE_BYTES_MAX:,} bytes"
        )
    return found


def _address(line: str) -> tuple[str, str]:
    words = line.split(" ")
    if len(words) != 3 or words[0] != "address" or not all(_NAME.fullmatch(word) for word in words[1:]):
        raise BenchguardError(f"{_WHERE}: {line[:80]!r} is not a line `address SYMBOL VARIABLE`")
    return words[1], words[2]
