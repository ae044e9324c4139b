"""Declarations of kernels in PTX and cubins. Both are hostile input."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

KERNELS_MAX = 1 << 16
PARAMETERS_MAX = 4096
NAME_MAX = 8192
SHARED_MAX, THREADS_MAX = 1 << 32, 1 << 31
"""Larger numbers are not plausible, and are shown as unknown."""

CUBIN = b"\x7fELF\x02\x01"
_CUDA, _SHENTSIZE, _SECTIONS_MAX, _SYMBOLS_MAX = 190, 64, 1 << 16, 1 << 20
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_ATTRIBUTE, _WORDS, _PARAMETER = struct.Struct("<BBH"), struct.Struct("<II"), struct.Struct("<IHHI")
_SIZED = 4
_PARAMETER_INFO, _FRAME_SIZE, _MAX_THREADS, _REGISTERS = 0x17, 0x11, 0x05, 0x2F
"""Attributes of `.nv.info`, as `cuobjdump -elf` of CUDA 13 names them: EIATTR_KPARAM_INFO, EIATTR_FRAME_SIZE,
EIATTR_MAX_THREADS, EIATTR_REGCOUNT."""
_ENTRY_FLAG, _FUNCTION, _SYMTAB = 0x10, 2, 2
_PTX_SECTION = b".nv_debug_ptx_txt"
"""Lines of PTX that end with NUL."""


@dataclass(frozen=True)
class Kernel:
    """A kernel of an image. A value is None if the code does not say it, as PTX does not say registers.

    `parameters` has offset and size of each; `symbol` is the index in a cubin's symbol table.
    """

    name: str
    parameters: tuple[tuple[int, int], ...] | None = None
    registers: int | None = None
    shared_bytes: int | None = None
    local_bytes: int | None = None
    max_threads: int | None = None
    symbol: int | None = None


@dataclass(frozen=True)
class _Section:
    name: bytes
    kind: int
    offset: int
    bytes: int
    info: int


def cubin_target(code: bytes) -> str:
    """`sm_90`; empty for code that is not a cubin. The word moved with version 8 of the ELF ABI (CUDA 12.8)."""
    if not code.startswith(CUBIN) or len(code) < _SHENTSIZE or struct.unpack_from("<H", code, 18)[0] != _CUDA:
        return ""
    (flags,) = struct.unpack_from("<I", code, 48)
    return f"sm_{flags >> 8 & 0xFF if code[8] >= 8 else flags & 0xFF}"


def ptx_in_cubin(code: bytes) -> bytes:
    """The PTX that ptxas stored in a cubin because of `-lineinfo`; empty if it has none. Raises ValueError.

    The lines are those of the original. Comments, `.file` and `.loc` are missing (ptxas of CUDA 13.0).
    """
    try:
        found = next((each for each in _sections(code) if each.name == _PTX_SECTION), None)
    except (struct.error, OverflowError) as error:
        raise ValueError(f"the cubin is damaged: {error}") from None
    return code[found.offset : found.offset + found.bytes].replace(b"\0", b"\n") if found else b""


def ptx_in_code_object(code: bytes) -> bytes:
    """The PTX in a code object of the CPU driver as a HIP driver; empty in AMD's own. Raises ValueError."""
    try:
        found = next((each for each in _sections(code) if each.name == b".ptx"), None)
    except (struct.error, OverflowError) as error:
        raise ValueError(f"the code object is damaged: {error}") from None
    return code[found.offset : found.offset + found.bytes].rstrip(b"\0") if found else b""


def cubin_kernels(code: bytes) -> tuple[Kernel, ...]:
    """The kernels of a cubin in the order of its symbol table. Raises ValueError for a damaged cubin."""
    try:
        return tuple(_cubin_kernels(code))
    except (struct.error, OverflowError) as error:
        raise ValueError(f"the cubin is damaged: {error}") from None


def _cubin_kernels(code: bytes) -> Iterator[Kernel]:
    sections = list(_sections(code))
    by_name = {section.name: section for section in sections}
    symbols = list(_symbols(code, sections))
    shared = {name: section.bytes for name, section in by_name.items() if name.startswith(b".nv.shared.")}
    values = _module_values(code, by_name.get(b".nv.info"))
    for index, name, other, section_index in symbols:
        if not other & _ENTRY_FLAG or section_index >= len(sections):
            continue
        text = sections[section_index]
        info = by_name.get(b".nv.info." + name)
        parameters, threads = _kernel_info(code, info) if info is not None else (None, None)
        yield Kernel(
            name=name.decode("utf-8", "replace"),
            parameters=parameters,
            registers=values[_REGISTERS].get(index, text.info >> 24),
            shared_bytes=shared.get(b".nv.shared." + name, 0),
            local_bytes=values[_FRAME_SIZE].get(index, 0),
            max_threads=threads,
            symbol=index,
        )


def _sections(code: bytes) -> Iterator[_Section]:
    (table,) = struct.unpack_from("<Q", code, 40)
    size, count, names = struct.unpack_from("<HHH", code, 58)
    if size != _SHENTSIZE or not code.startswith(CUBIN):
        raise struct.error("its section table cannot be read")
    if count == 0:  # then the first section has the number of sections
        count = _SECTION.unpack_from(code, table)[5]
    if names == 0xFFFF:
        names = _SECTION.unpack_from(code, table)[6]
    strings = _SECTION.unpack_from(code, table + names * _SHENTSIZE)[4]
    for index in range(min(count, _SECTIONS_MAX)):
        name_at, kind, _, _, offset, length, _, info, _, _ = _SECTION.unpack_from(
            code, table + index * _SHENTSIZE
        )
        yield _Section(_string(code, strings + name_at), kind, offset, length, info)


def _symbols(code: bytes, sections: list[_Section]) -> Iterator[tuple[int, bytes, int, int]]:
    """Functions: index, name, `st_other`, section."""
    table = next((each for each in sections if each.kind == _SYMTAB), None)
    strings = next((each for each in sections if each.name == b".strtab"), None)
    if table is None or strings is None:
        return
    count = min(table.bytes // _SYMBOL.size, _SYMBOLS_MAX)
    found = 0
    for index in range(count):
        name_at, info, other, section, _, _ = _SYMBOL.unpack_from(code, table.offset + index * _SYMBOL.size)
        if info & 0xF == _FUNCTION and found < KERNELS_MAX:
            found += 1
            yield index, _string(code, strings.offset + name_at), other, section


def _string(code: bytes, at: int) -> bytes:
    end = code.find(b"\0", at, at + NAME_MAX)
    return code[at : max(at, end)]


def _attributes(code: bytes, section: _Section) -> Iterator[tuple[int, bytes]]:
    at, end = section.offset, min(section.offset + section.bytes, len(code))
    while at + _ATTRIBUTE.size <= end:
        form, attribute, size = _ATTRIBUTE.unpack_from(code, at)
        at += _ATTRIBUTE.size
        if form == _SIZED:
            yield attribute, code[at : min(at + size, end)]
            at += size


def _module_values(code: bytes, section: _Section | None) -> dict[int, dict[int, int]]:
    """By attribute: a value for each symbol."""
    values: dict[int, dict[int, int]] = {_REGISTERS: {}, _FRAME_SIZE: {}}
    for attribute, data in _attributes(code, section) if section is not None else ():
        if attribute in values and len(data) >= _WORDS.size and len(values[attribute]) < KERNELS_MAX:
            symbol, value = _WORDS.unpack_from(data)
            values[attribute][symbol] = value
    return values


def _kernel_info(code: bytes, section: _Section) -> tuple[tuple[tuple[int, int], ...] | None, int | None]:
    parameters: dict[int, tuple[int, int]] = {}
    threads = None
    for attribute, data in _attributes(code, section):
        if attribute == _PARAMETER_INFO and len(data) >= _PARAMETER.size and len(parameters) < PARAMETERS_MAX:
            _, ordinal, offset, packed = _PARAMETER.unpack_from(data)
            parameters[ordinal] = offset, packed >> 18
        elif attribute == _MAX_THREADS and len(data) >= 12:
            one, two, three = struct.unpack_from("<III", data)
            threads = one * two * three if one * two * three <= THREADS_MAX else None
    whole = set(parameters) == set(range(len(parameters)))
    return tuple(parameters[each] for each in range(len(parameters))) if whole else None, threads


# Expressions whose time is linear in the text, because a hostile text may be 256 MB of one word.
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_ENTRY = re.compile(r"(?:\.(?:visible|weak|extern)\s+){0,2}\.entry\s+([\w$%]+)")
_TARGET = re.compile(r"\.target\s+(sm_\w{1,16})")
_PARAMETER_TEXT_MAX = 1024
_PARAM = re.compile(
    r"\s*\.param\s+(?:\.align\s+(\d{1,6})\s+)?\.[a-z]+(\d{1,4})(?:x2)?\s[^\[]*(?:\[\s*(\d{1,9})\s*\])?\s*"
)
_SHARED = re.compile(
    r"(?<!extern )\.shared\s+(?:\.align\s+\d+\s+)?\.[a-z]+(\d{1,4})\s+[\w$%]+((?:\s*\[\s*\d{1,9}\s*\]){0,8})\s*;"
)
_DIMENSION = re.compile(r"\[\s*(\d{1,9})\s*\]")
_THREADS = re.compile(r"\.(?:maxntid|reqntid)\s+(\d{1,9})(?:\s*,\s*(\d{1,9}))?(?:\s*,\s*(\d{1,9}))?")
_BRACE = re.compile(r"[{}]")


def ptx_target(text: str) -> str:
    """`sm_90`; empty if the text names no target."""
    found = _TARGET.search(text)
    return found[1] if found else ""


def ptx_kernels(text: str) -> tuple[Kernel, ...]:
    """The kernels of PTX, in order."""
    return tuple(_ptx_kernel(name, head, body) for name, head, body in _entries(_COMMENT.sub(_blank, text)))


def ptx_of(text: str, name: str) -> str | None:
    """The text of a kernel, from its `.entry` to its last brace, with the comments in it; None if it is absent."""
    bare = _COMMENT.sub(_blank, text)
    for found, begin, _, end in _spans(bare):
        if found == name:
            return text[begin:end] + "\n"
    return None


def _blank(comment: re.Match[str]) -> str:
    """Spaces instead of a comment, so that all places stay the same."""
    return re.sub(r"[^\n]", " ", comment[0])


def _spans(text: str) -> Iterator[tuple[str, int, int, int]]:
    """Name, begin, begin of the body, and end of each entry."""
    starts = []
    for found in _ENTRY.finditer(text):
        starts.append(found)
        if len(starts) >= KERNELS_MAX:
            break
    for number, found in enumerate(starts):
        limit = starts[number + 1].start() if number + 1 < len(starts) else len(text)
        begin = text.find("{", found.end(), limit)
        depth, end = 0, limit
        for brace in _BRACE.finditer(text, begin, limit) if begin >= 0 else ():
            depth += 1 if brace[0] == "{" else -1
            if depth == 0:
                end = brace.end()
                break
        yield found[1][:NAME_MAX], found.start(), begin if begin >= 0 else end, end


def _entries(text: str) -> Iterator[tuple[str, str, str]]:
    for name, begin, body, end in _spans(text):
        yield name, text[begin:body], text[body:end]


def _ptx_kernel(name: str, head: str, body: str) -> Kernel:
    found = _THREADS.search(head)
    threads = math.prod(int(each) for each in found.groups() if each) if found else None
    shared = sum(
        int(bits) // 8 * math.prod(map(int, _DIMENSION.findall(dimensions)))
        for bits, dimensions in _SHARED.findall(body)
    )
    return Kernel(
        name,
        parameters=_ptx_parameters(head),
        shared_bytes=shared if shared < SHARED_MAX else None,
        max_threads=threads if threads is not None and threads <= THREADS_MAX else None,
    )


def _ptx_parameters(head: str) -> tuple[tuple[int, int], ...] | None:
    """Offsets as PTX's rules give them: each parameter at a multiple of its alignment, by default its type's size."""
    begin, end = head.find("("), head.rfind(")")
    declarations = head[begin + 1 : end].split(",", PARAMETERS_MAX) if 0 <= begin < end else []
    if len(declarations) == 1 and not declarations[0].strip():
        return ()
    parameters, at = [], 0
    for declaration in declarations:
        found = _PARAM.fullmatch(declaration) if len(declaration) <= _PARAMETER_TEXT_MAX else None
        if found is None:
            return None
        align, bits, count = found.groups()
        size = int(bits) // 8
        alignment = int(align) if align else size
        if not size or not alignment:
            return None
        at = -(-at // alignment) * alignment
        parameters.append((at, size * (int(count) if count else 1)))
        at += parameters[-1][1]
    return tuple(parameters)
