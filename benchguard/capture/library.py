"""Fat binaries in a library or a program, which nvcc puts into sections of their own. The file may be hostile."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from . import fatbin

SECTIONS = (".nv_fatbin", "__nv_relfatbin")
_HEADER_BYTES, _ALIGNMENT = 16, 8


def device_sections(library: Path) -> list[tuple[int, int]]:
    """Offset and size of each section of device code; empty for other files."""
    try:
        with library.open("rb") as stream:
            if stream.read(4) != b"\x7fELF":
                return []
            sections = [ELFFile(stream).get_section_by_name(name) for name in SECTIONS]
            return [(each["sh_offset"], each["sh_size"]) for each in sections if each is not None]
    except (OSError, ELFError):
        return []


def fat_binaries(library: Path) -> Iterator[bytes]:
    """The fat binaries of a library, in order. Raises OSError."""
    sections = device_sections(library)
    with library.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for begin, size in sections:
            at, end = begin, min(begin + size, len(content))
            while at + _HEADER_BYTES <= end:
                length = fatbin.length_of(content[at : at + _HEADER_BYTES])
                if length:
                    yield content[at : min(at + length, end)]
                at += length or _ALIGNMENT
