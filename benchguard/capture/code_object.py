"""AMD's code objects: their target, kernels and globals (LLVM, "User Guide for AMDGPU Backend"). Hostile."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
from elftools.common.utils import struct_parse
from elftools.elf.elffile import ELFFile

from ..ipc.json_text import UNREADABLE
from .bundle import codes_of
from .unpack import CodeError

NOTE_OWNER, NOTE_METADATA = b"AMDGPU\0", 32
METADATA_MAX = 16 << 20
SEGMENTS_MAX, SECTIONS_MAX, NOTES_MAX, SYMBOLS_MAX = 64, 4096, 1024, 65536
NAME_MAX = 8192
HIDDEN = "hidden_"

_NOTE, _SYMBOL = struct.Struct("<III"), struct.Struct("<IBBHQQ")
_OBJECT, _UNDEFINED = 1, 0


def _dotted(name: str) -> str:
    return f".{name}"


class _Argument(msgspec.Struct, frozen=True, rename=_dotted):
    offset: int
    size: int
    value_kind: str = ""


class _Kernel(msgspec.Struct, frozen=True, rename=_dotted):
    name: str
    kernarg_segment_size: int
    vgpr_count: int = 0
    sgpr_count: int = 0
    group_segment_fixed_size: int = 0
    private_segment_fixed_size: int = 0
    max_flat_workgroup_size: int = 0
    wavefront_size: int = 0
    args: tuple[_Argument, ...] = ()


class _Metadata(msgspec.Struct, frozen=True):
    kernels: tuple[_Kernel, ...] = msgspec.field(name="amdhsa.kernels")
    target: str = msgspec.field(name="amdhsa.target", default="")


@dataclass(frozen=True)
class CodeKernel:
    """`parameters`: offset and size of what the program gives; `segment_bytes` counts what the compiler added, too."""

    name: str
    parameters: tuple[tuple[int, int], ...]
    segment_bytes: int
    vector_registers: int
    scalar_registers: int
    shared_bytes: int
    local_bytes: int
    max_threads: int
    wavefront: int


@dataclass(frozen=True)
class CodeObject:
    """`target` is the bundle's word ("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-"), else the metadata's. `problem`: why
    nothing more is known of it."""

    target: str
    kernels: tuple[CodeKernel, ...] = ()
    globals: tuple[str, ...] = ()
    problem: str = ""


def code_objects(image: bytes) -> tuple[CodeObject, ...]:
    """All code objects of an image: a code object, a bundle or a compressed bundle. Raises CodeError for a damaged
    bundle.
    """
    return tuple(_read_or_say(code, target) for target, code in codes_of(image))


def _read_or_say(code: bytes, target: str) -> CodeObject:
    try:
        return _read(code, target)
    except CodeError as error:
        return CodeObject(target, problem=str(error))


def _view(kernel: _Kernel) -> CodeKernel:
    return CodeKernel(
        name=kernel.name,
        parameters=tuple((e.offset, e.size) for e in kernel.args if not e.value_kind.startswith(HIDDEN)),
        segment_bytes=kernel.kernarg_segment_size,
        vector_registers=kernel.vgpr_count,
        scalar_registers=kernel.sgpr_count,
        shared_bytes=kernel.group_segment_fixed_size,
        local_bytes=kernel.private_segment_fixed_size,
        max_threads=kernel.max_flat_workgroup_size,
        wavefront=kernel.wavefront_size,
    )


def _read(code: bytes, target: str) -> CodeObject:
    try:
        elf = ELFFile(io.BytesIO(code))
        if elf["e_machine"] != "EM_AMDGPU" or elf.elfclass != 64 or not elf.little_endian:
            raise CodeError("it is not a code object for an AMD GPU")
        metadata = _metadata(elf, code)
        kernels = tuple(map(_view, metadata.kernels))
        return CodeObject(target or metadata.target, kernels, tuple(_globals(elf, code)))
    except CodeError:
        raise
    except Exception as error:  # pyelftools raises whatever its parser trips over on a damaged file
        raise CodeError(f"the code object is damaged: {str(error) or type(error).__name__}") from error


def _segments(elf: ELFFile) -> Iterator[Any]:
    """Their headers alone: pyelftools reads what some kinds of segments and sections hold, however much it is."""
    for index in range(min(elf["e_phnum"], SEGMENTS_MAX)):
        yield struct_parse(elf.structs.Elf_Phdr, elf.stream, elf["e_phoff"] + index * elf["e_phentsize"])


def _sections(elf: ELFFile) -> list[Any]:
    return [
        struct_parse(elf.structs.Elf_Shdr, elf.stream, elf["e_shoff"] + index * elf["e_shentsize"])
        for index in range(min(elf["e_shnum"], SECTIONS_MAX))
    ]


def _metadata(elf: ELFFile, code: bytes) -> _Metadata:
    for segment in _segments(elf):
        if segment["p_type"] == "PT_NOTE":
            begin = segment["p_offset"]
            for text in _notes(memoryview(code)[begin : begin + segment["p_filesz"]]):
                return _decoded(text)
    raise CodeError("it has no metadata of version 3 or newer")


def _notes(notes: memoryview) -> Iterator[memoryview]:
    """Those that hold metadata."""
    at = 0
    for _ in range(NOTES_MAX):
        if at + _NOTE.size > len(notes):
            return
        name_bytes, text_bytes, kind = _NOTE.unpack_from(notes, at)
        begin = at + _NOTE.size
        text = begin + (name_bytes + 3 & ~3)
        if kind == NOTE_METADATA and notes[begin : begin + name_bytes] == NOTE_OWNER:
            yield notes[text : text + text_bytes]
        at = text + (text_bytes + 3 & ~3)


def _decoded(text: memoryview) -> _Metadata:
    if len(text) > METADATA_MAX:
        raise CodeError(f"its metadata has {len(text)} bytes; more than {METADATA_MAX} are not read")
    try:
        return msgspec.msgpack.decode(text, type=_Metadata)
    except UNREADABLE as error:
        raise CodeError(f"its metadata cannot be read: {error}") from error


def _globals(elf: ELFFile, code: bytes) -> Iterator[str]:
    """Names of the dynamic objects, which are what the runtime finds; a kernel's descriptor is one, too."""
    sections = _sections(elf)
    table = next((each for each in sections if each["sh_type"] == "SHT_DYNSYM"), None)
    if table is None or table["sh_link"] >= len(sections):
        return
    names = sections[table["sh_link"]]["sh_offset"]
    begin = table["sh_offset"]
    end = min(begin + min(table["sh_size"], SYMBOLS_MAX * _SYMBOL.size), len(code))
    for at in range(begin, end - _SYMBOL.size + 1, _SYMBOL.size):
        name_at, info, _, section, _, _ = _SYMBOL.unpack_from(code, at)
        first = names + name_at
        last = code.find(b"\0", first, first + NAME_MAX)
        if info & 15 == _OBJECT and section != _UNDEFINED and last > first:
            name = code[first:last].decode("utf-8", "replace")
            if not name.endswith(".kd"):
                yield name
