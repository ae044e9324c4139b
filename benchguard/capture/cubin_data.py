"""Data sections of a cubin, and the symbols that name their bytes. Cubins are hostile.

A driver finds a variable by name. So a symbol names its bytes only if it has a name, and no other symbol has the same.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

SECTIONS_MAX = 1 << 16
SYMBOLS_MAX = 1 << 20
NAME_MAX = 8192
"""Bytes of a name that the replay engine accepts (NB_GLOBAL_NAME_MAX)."""

DATA = (b".nv.global", b".nv.global.init", b".nv.constant3")
"""Sections of variables that a kernel may change, constants through a pointer."""

PADDING_MAX = 255
"""Unnamed bytes in all: compilers align variables to 256 bytes at most, and few variables to more than their size."""

_SECTIONS_AT, _SECTION_COUNT_AT = 40, 58
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_NO_BITS, _SYMTAB, _OBJECT, _EXTENDED = 8, 2, 1, 0xFFFF


class CubinError(Exception):
    """A cubin that cannot be read. The message says why."""


@dataclass(frozen=True)
class _Section:
    name: int
    kind: int
    offset: int
    bytes: int
    link: int


def unnamed_bytes(cubin: bytes) -> int:
    """The bytes of the data sections that no symbol covers; 0 if there is only padding.

    Raises CubinError, struct.error.
    """
    sections = _sections(cubin)
    (names_index,) = struct.unpack_from("<H", cubin, _SECTION_COUNT_AT + 4)
    names = sections[names_index].offset if names_index < len(sections) else len(cubin)
    data = {
        index: section.bytes
        for index, section in enumerate(sections)
        if section.bytes and any(cubin.startswith(name + b"\0", names + section.name) for name in DATA)
    }
    if not data:
        return 0
    spans: dict[int, list[tuple[int, int]]] = {index: [] for index in data}
    for section, begin, size in _objects(cubin, sections):
        if section in spans:
            spans[section].append((begin, begin + size))
    gaps = sum(_gaps(spans[index], size) for index, size in data.items())
    return gaps if gaps > PADDING_MAX else 0


def _sections(cubin: bytes) -> list[_Section]:
    (table,) = struct.unpack_from("<Q", cubin, _SECTIONS_AT)
    entry, count = struct.unpack_from("<HH", cubin, _SECTION_COUNT_AT)
    if entry != _SECTION.size or not 0 < count < SECTIONS_MAX or table + count * entry > len(cubin):
        raise CubinError("its section table cannot be read")
    sections = []
    for index in range(count):
        name, kind, _, _, offset, size, link, *_ = _SECTION.unpack_from(cubin, table + index * entry)
        sections.append(_Section(name, kind, offset, size, link))
    return sections


def _objects(cubin: bytes, sections: list[_Section]) -> list[tuple[int, int, int]]:
    """Section, offset in it, and bytes of each variable that can be found by its name."""
    tables = [section for section in sections if section.kind == _SYMTAB]
    if len(tables) != 1 or tables[0].link >= len(sections):
        raise CubinError("it has no symbol table, or several")
    table, names = tables[0], sections[tables[0].link]
    if table.offset + table.bytes > len(cubin) or table.bytes > SYMBOLS_MAX * _SYMBOL.size:
        raise CubinError("its symbol table cannot be read")
    found: dict[bytes, list[tuple[int, int, int]]] = {}
    for at in range(table.offset, table.offset + table.bytes - _SYMBOL.size + 1, _SYMBOL.size):
        name_at, info, _, section, value, size = _SYMBOL.unpack_from(cubin, at)
        if section == _EXTENDED:
            raise CubinError("it has too many sections for its symbol table")
        if info & 0xF != _OBJECT:
            continue
        begin = names.offset + name_at
        end = cubin.find(b"\0", begin, min(names.offset + names.bytes, begin + NAME_MAX))
        if end > begin:
            found.setdefault(cubin[begin:end], []).append((section, value, size))
    return [places[0] for places in found.values() if len(places) == 1]


def _gaps(spans: list[tuple[int, int]], size: int) -> int:
    """Bytes of a section that no span covers."""
    end = gaps = 0
    for first, last in sorted(spans):
        gaps += max(0, first - end)
        end = max(end, last)
    return gaps + max(0, size - end)
