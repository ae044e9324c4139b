"""A writer of small ELF64 files: sections, symbols, a program header for what is loaded and one for notes."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

PROGBITS, SYMTAB, STRTAB, NOTE, DYNSYM = 1, 2, 3, 7, 11
WRITE, ALLOCATE, EXECUTE = 1, 2, 4
OBJECT, FUNCTION = 1, 2
_DYN = 3
_LOAD, _NOTE_SEGMENT = 1, 4
_GLOBAL, _PROTECTED = 1, 3
_EHDR, _PHDR, _SHDR = 64, 56, 64


@dataclass(frozen=True)
class Section:
    name: str
    kind: int
    data: bytes = b""
    flags: int = 0
    align: int = 1


@dataclass(frozen=True)
class Symbol:
    """A global, protected symbol, as clang gives the symbols of device code."""

    name: str
    kind: int
    section: str
    offset: int
    size: int


def elf64(
    sections: Sequence[Section],
    symbols: Sequence[Symbol],
    *,
    machine: int,
    os_abi: int,
    abi_version: int,
    flags: int = 0,
) -> bytes:
    """A shared object with its symbols as `.dynsym` and as `.symtab`.

    The sections follow each other, and addresses are offsets in the file.
    """
    names = ["", *(section.name for section in sections)]
    string_table, places = _strings([symbol.name for symbol in symbols])
    placed, offset = list[tuple[Section, int]](), _EHDR + 2 * _PHDR
    for section in sections:
        offset = -(-offset // section.align) * section.align
        placed.append((section, offset))
        offset += len(section.data)
    at = {section.name: where for section, where in placed}
    table = bytes(24) + b"".join(
        struct.pack(
            "<IBBHQQ",
            places[symbol.name],
            _GLOBAL << 4 | symbol.kind,
            _PROTECTED,
            names.index(symbol.section),
            at[symbol.section] + symbol.offset,
            symbol.size,
        )
        for symbol in symbols
    )
    last = len(sections)
    tables = [
        (Section(".dynsym", DYNSYM, table, ALLOCATE, 8), last + 2),
        (Section(".dynstr", STRTAB, string_table, ALLOCATE), 0),
        (Section(".symtab", SYMTAB, table, 0, 8), last + 4),
        (Section(".strtab", STRTAB, string_table), 0),
    ]
    section_names, name_places = _strings([*names[1:], *(each.name for each, _ in tables), ".shstrtab"])
    tables.append((Section(".shstrtab", STRTAB, section_names), 0))
    links = [0] * len(placed)
    for section, link in tables:
        offset = -(-offset // section.align) * section.align
        placed.append((section, offset))
        links.append(link)
        offset += len(section.data)
    headers_at = -(-offset // 8) * 8

    image = bytearray(headers_at)
    image[:_EHDR] = struct.pack(
        "<4sBBBBB7xHHIQQQIHHHHHH",
        *(b"\x7fELF", 2, 1, 1, os_abi, abi_version, _DYN, machine, 1, 0, _EHDR, headers_at, flags),
        *(_EHDR, _PHDR, 2, _SHDR, len(placed) + 1, len(placed)),
    )
    notes = next((each for each in placed if each[0].kind == NOTE), None)
    note_at, note_size = (notes[1], len(notes[0].data)) if notes else (0, 0)
    image[_EHDR : _EHDR + 2 * _PHDR] = struct.pack(
        "<IIQQQQQQ", _LOAD, 5, 0, 0, 0, headers_at, headers_at, 4096
    ) + struct.pack("<IIQQQQQQ", _NOTE_SEGMENT, 4, note_at, note_at, note_at, note_size, note_size, 4)
    headers = bytes(_SHDR)
    for (section, where), link in zip(placed, links, strict=True):
        image[where : where + len(section.data)] = section.data
        address = where if section.flags & ALLOCATE else 0
        entry = 24 if section.kind in (SYMTAB, DYNSYM) else 0
        headers += struct.pack(
            "<IIQQQQIIQQ",
            *(name_places[section.name], section.kind, section.flags, address, where, len(section.data)),
            *(link, 1 if entry else 0, section.align, entry),
        )
    return bytes(image) + headers


def note(owner: bytes, kind: int, description: bytes) -> bytes:
    """One note, its parts padded to four bytes."""
    name = owner + b"\0"
    return struct.pack("<III", len(name), len(description), kind) + _padded(name) + _padded(description)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _strings(names: Sequence[str]) -> tuple[bytes, dict[str, int]]:
    table, places = b"\0", dict[str, int]()
    for name in names:
        places[name] = len(table)
        table += name.encode() + b"\0"
    return table, places
