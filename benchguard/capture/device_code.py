"""Digests of the kernels in an image, by which the library that contains them is found. Images are hostile.

A digest covers a kernel's instructions, neither its name nor the file around it: the section `.text.NAME` of a cubin,
or the body of an entry in PTX. So it is the same in a fat binary, in the cubin that is taken out of it, and under
another name.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Container, Iterator
from contextlib import suppress
from dataclasses import dataclass

from . import fatbin
from .unpack import CodeError

SECTIONS_MAX = 1 << 16
ENTRIES_MAX = 1 << 16
NAME_MAX = 8192
UNPACKED_MAX = 2 << 30
"""Bytes of all codes of an image together. A library's largest fat binary unpacks to less."""

_ELF, _CUDA, _SHENTSIZE = b"\x7fELF\x02\x01", 190, 64
_MACHINE_AT, _SECTIONS_AT, _SECTION_COUNT_AT = 18, 40, 58
_SECTION = struct.Struct("<IIQQQQIIQQ")
_NO_BITS = 8
_TEXT = b".text."
_LINE_COMMENT = re.compile(rb"//[^\n]*")
_ENTRY = re.compile(rb"\.entry\s+([\w$%]+)")
_BRACE = re.compile(rb"[{}]")
_REGISTERS = re.compile(rb"\.reg\b[^;]*;")
_NAME = re.compile(rb"%[a-z]+\d+|[$_][\w$]+")


@dataclass(frozen=True)
class KernelCode:
    """`bytes` is the length of what `sha256` covers."""

    name: str
    sha256: str
    bytes: int


def kernel_codes(image: bytes, names: Container[str] | None = None) -> Iterator[KernelCode]:
    """The kernels in a cubin, in PTX, or in all codes of a fat binary; with `names`, only these.

    Code that cannot be read gives nothing.
    """
    for code in _codes(image):
        for raw, body in _cubin(code) if code.startswith(_ELF) else _ptx(code):
            name = raw.decode("utf-8", "replace")
            if names is None or name in names:
                yield KernelCode(name, hashlib.sha256(body).hexdigest(), len(body))


def _codes(image: bytes) -> Iterator[bytes]:
    if image[:4] != fatbin.MAGIC.to_bytes(4, "little"):
        yield image
        return
    entries = list(fatbin.entries(image))
    if sum(entry.raw_bytes for entry in entries) > UNPACKED_MAX:
        return
    for entry in entries:
        with suppress(CodeError):
            yield entry.code(image)


def _cubin(code: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Sections of instructions, by kernel."""
    with suppress(struct.error, OverflowError):
        (machine,) = struct.unpack_from("<H", code, _MACHINE_AT)
        (table,) = struct.unpack_from("<Q", code, _SECTIONS_AT)
        size, count, names = struct.unpack_from("<HHH", code, _SECTION_COUNT_AT)
        if machine != _CUDA or size != _SHENTSIZE:
            return
        if count == 0:  # then the first section has the number of sections
            count = _SECTION.unpack_from(code, table)[5]
        if names == 0xFFFF:
            names = _SECTION.unpack_from(code, table)[6]
        strings = _SECTION.unpack_from(code, table + names * _SHENTSIZE)[4]
        left = len(code)  # sections of a compiler do not overlap
        for index in range(min(count, SECTIONS_MAX)):
            name_at, kind, _, _, begin, length, *_ = _SECTION.unpack_from(code, table + index * _SHENTSIZE)
            if kind == _NO_BITS or begin + length > len(code):
                continue
            first = strings + name_at + len(_TEXT)
            if code.startswith(_TEXT, strings + name_at) and (left := left - length) >= 0:
                last = code.find(b"\0", first, first + NAME_MAX)
                yield code[first : max(first, last)], code[begin : begin + length]


def _ptx(code: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Bodies of entries, without comments, spaces and declarations of registers. Registers, labels and parameters have
    numbers for names.
    """
    first, *rest = _LINE_COMMENT.sub(b" ", code).split(b"/*")
    text = b" ".join([first, *(each.partition(b"*/")[2] for each in rest)])
    starts = list(_ENTRY.finditer(text))[:ENTRIES_MAX]
    for number, found in enumerate(starts):
        limit = starts[number + 1].start() if number + 1 < len(starts) else len(text)
        begin = text.find(b"{", found.end(), limit)
        depth = 0
        for brace in _BRACE.finditer(text, begin, limit) if begin >= 0 else ():
            depth += 1 if brace.group() == b"{" else -1
            if depth == 0:
                body = b" ".join(_REGISTERS.sub(b"", text[begin : brace.end()]).split())
                yield found[1], _NAME.sub(_Numbers(), body.replace(found[1] + b"_param_", b"$param_"))
                break


class _Numbers:
    """Replaces each name by the number of names before its first use."""

    def __init__(self) -> None:
        self._found: dict[bytes, bytes] = {}

    def __call__(self, found: re.Match[bytes]) -> bytes:
        return self._found.setdefault(found[0], b"%%%d" % len(self._found))
