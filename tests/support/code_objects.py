"""Code objects and offload bundles as hipcc writes them, but with PTX in them, for the CPU driver's HIP face.

The layouts are those of LLVM's AMDGPUUsage.rst (code object v4: the ELF header, the note, the metadata) and of
ClangOffloadBundler.rst (bundles, plain and compressed).
"""

from __future__ import annotations

import hashlib
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
import pytest
import zstandard

from tests.corpus import nvrtc
from tests.support.elf64 import (
    ALLOCATE,
    EXECUTE,
    FUNCTION,
    NOTE,
    OBJECT,
    PROGBITS,
    WRITE,
    Section,
    Symbol,
    elf64,
    note,
)

HOST = "host-x86_64-unknown-linux"
SIM = "hipv4-amdgcn-amd-amdhsa--sim"
"""The bundle entry that the CPU driver takes."""

_EM_AMDGPU, _OS_ABI_HSA, _ABI_VERSION_4 = 224, 64, 2
_NT_AMDGPU_METADATA = 32
_DESCRIPTOR_BYTES = 64
_S_ENDPGM = struct.pack("<I", 0xBF810000) + bytes(252)
_WIDTHS = {"pred": 1, "b128": 16, "f16x2": 4, "bf16x2": 4}
_HIDDEN = [
    *(f"hidden_global_offset_{axis}" for axis in "xyz"),
    *("hidden_hostcall_buffer", "hidden_none", "hidden_none", "hidden_multigrid_sync_arg"),
]
"""Hidden arguments that clang adds to every kernel of a v4 code object, eight bytes each."""

_ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*(?:\((.*?)\))?([^{]*)\{", re.DOTALL)
_PARAMETER = re.compile(
    r"\.param\s+(?:\.align\s+(\d+)\s+)?\.(\w+)\s+"
    r"(\.ptr\s+(?:\.(?:global|const|shared|local)\s+)?(?:\.align\s+\d+\s+)?)?([\w$%]+)(?:\[(\d+)\])?"
)
_DECLARATION = re.compile(
    r"\.(global|const|shared|local)\s+(?:\.align\s+(\d+)\s+)?\.(\w+)\s+([\w$%]+)(?:\[(\d*)\])?\s*[;=]"
)


@dataclass(frozen=True)
class Parameter:
    name: str
    offset: int
    size: int
    pointer: bool


@dataclass(frozen=True)
class Kernel:
    name: str
    parameters: tuple[Parameter, ...]
    shared_bytes: int
    private_bytes: int


@dataclass(frozen=True)
class Global:
    name: str
    size: int


def compile_ptx(source: str, *, target: int = 75) -> str:
    """PTX of a kernel source, by NVRTC; the test is skipped if NVRTC is not installed."""
    if nvrtc.library() is None:
        pytest.skip("no NVRTC: pip install nvidia-cuda-nvrtc")
    return nvrtc.compile_text(source.encode(), "kernel.cu", target).rstrip(b"\0").decode()


def kernels_of(ptx: str) -> tuple[Kernel, ...]:
    return tuple(_kernels(_without_comments(ptx)))


def globals_of(ptx: str) -> tuple[Global, ...]:
    """Globals that host code can name."""
    text = re.sub(r"\{[^{}]*\}", "{}", _without_comments(ptx).replace("\n", " "))
    result = (match for match in _DECLARATION.finditer(text) if match[1] in ("global", "const"))
    return tuple(Global(match[4], _size(match[3], match[5])) for match in result)


def code_object(ptx: str, target: str = "sim") -> bytes:
    """An ELF as clang makes for an AMD GPU, and in its section `.ptx` what the CPU driver runs.

    Parts that only a GPU reads are placeholders: a kernel's text is one `s_endpgm`; its descriptor and the
    globals are zeros.
    """
    kernels, globals_ = kernels_of(ptx), globals_of(ptx)
    metadata = {
        "amdhsa.kernels": [_metadata(kernel) for kernel in kernels],
        "amdhsa.target": f"amdgcn-amd-amdhsa--{target}",
        "amdhsa.version": [1, 1],
    }
    sections = [
        Section(
            ".note",
            NOTE,
            note(b"AMDGPU", _NT_AMDGPU_METADATA, msgspec.msgpack.encode(metadata)),
            ALLOCATE,
            4,
        ),
        Section(".rodata", PROGBITS, bytes(_DESCRIPTOR_BYTES * len(kernels)), ALLOCATE, 64),
        Section(".text", PROGBITS, _S_ENDPGM * len(kernels), ALLOCATE | EXECUTE, 256),
        Section(".ptx", PROGBITS, ptx.encode()),
        Section(
            ".data", PROGBITS, bytes(sum(_aligned(each.size, 16) for each in globals_)), ALLOCATE | WRITE, 16
        ),
    ]
    symbols = [
        symbol
        for index, kernel in enumerate(kernels)
        for symbol in (
            Symbol(kernel.name, FUNCTION, ".text", index * len(_S_ENDPGM), 4),
            Symbol(f"{kernel.name}.kd", OBJECT, ".rodata", index * _DESCRIPTOR_BYTES, _DESCRIPTOR_BYTES),
        )
    ]
    offset = 0
    for each in globals_:
        symbols.append(Symbol(each.name, OBJECT, ".data", offset, each.size))
        offset += _aligned(each.size, 16)
    return elf64(sections, symbols, machine=_EM_AMDGPU, os_abi=_OS_ABI_HSA, abi_version=_ABI_VERSION_4)


def bundle(entries: Mapping[str, bytes], align: int = 4096) -> bytes:
    """The output of clang-offload-bundler for `entries`, in their order."""
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(entries))
    end = len(head) + sum(24 + len(target.encode()) for target in entries)
    body = bytearray()
    for target, data in entries.items():
        offset = _aligned(end, align)
        head += struct.pack("<QQQ", offset, len(data), len(target.encode())) + target.encode()
        body += bytes(offset - end) + data
        end = offset + len(data)
    return head + bytes(body)


def sim_bundle(ptx: str) -> bytes:
    """As hipcc links in: nothing for the host, and a code object."""
    return bundle({HOST: b"", SIM: code_object(ptx)})


def compressed(data: bytes, method: Literal["zlib", "zstd"] = "zstd", version: Literal[1, 2, 3] = 2) -> bytes:
    """As `hipcc --offload-compress` makes of a bundle."""
    packed = zlib.compress(data) if method == "zlib" else zstandard.compress(data)
    head = b"CCOB" + struct.pack("<HH", version, 0 if method == "zlib" else 1)
    digest = hashlib.md5(data, usedforsecurity=False).digest()[:8]
    sizes = {1: "<I", 2: "<II", 3: "<QQ"}[version]
    total = len(head) + struct.calcsize(sizes) + len(digest) + len(packed)
    return head + struct.pack(sizes, *((total, len(data)) if version > 1 else (len(data),))) + digest + packed


def _metadata(kernel: Kernel) -> dict[str, Any]:
    arguments = [
        {".offset": each.offset, ".size": each.size}
        | (
            {".address_space": "global", ".value_kind": "global_buffer"}
            if each.pointer
            else {".value_kind": "by_value"}
        )
        for each in kernel.parameters
    ]
    end = _aligned(max((each.offset + each.size for each in kernel.parameters), default=0), 8)
    for index, kind in enumerate(_HIDDEN):
        arguments.append({".offset": end + 8 * index, ".size": 8, ".value_kind": kind})
    return {
        ".args": arguments,
        ".group_segment_fixed_size": kernel.shared_bytes,
        ".kernarg_segment_align": 8,
        ".kernarg_segment_size": end + 8 * len(_HIDDEN),
        ".language": "OpenCL C",
        ".language_version": [2, 0],
        ".max_flat_workgroup_size": 1024,
        ".name": kernel.name,
        ".private_segment_fixed_size": kernel.private_bytes,
        ".sgpr_count": 16,
        ".sgpr_spill_count": 0,
        ".symbol": f"{kernel.name}.kd",
        ".vgpr_count": 8,
        ".vgpr_spill_count": 0,
        ".wavefront_size": 32,
    }


def _kernels(text: str) -> Iterator[Kernel]:
    for match in _ENTRY.finditer(text):
        body, parameters, offset = _body(text, match.end()), list[Parameter](), 0
        pointers = _pointers(body)
        for align, kind, pointer, name, count in _PARAMETER.findall(match[2] or ""):
            size = _size(kind, count)
            offset = _aligned(offset, int(align or _size(kind, "")))
            parameters.append(Parameter(name, offset, size, bool(pointer) or name in pointers))
            offset += size
        sizes = {"shared": 0, "local": 0, "global": 0, "const": 0}
        for space, _, kind, _, count in _DECLARATION.findall(body):
            sizes[space] += _size(kind, count)
        yield Kernel(match[1], tuple(parameters), sizes["shared"], sizes["local"])


def _pointers(body: str) -> set[str]:
    """Parameters that become global addresses; not every compiler writes `.ptr`."""
    addresses = set(re.findall(r"cvta\.to\.global\.u64\s+[\w%]+,\s*([\w%]+)", body))
    loads = re.findall(r"ld\.param\.u64\s+([\w%]+),\s*\[([\w$]+)\]", body)
    return {name for register, name in loads if register in addresses}


def _body(text: str, start: int) -> str:
    depth = 1
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return text[start:place]
    raise ValueError("a kernel's body has no end")


def _without_comments(ptx: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", ptx, flags=re.DOTALL)


def _size(kind: str, count: str | None) -> int:
    width = _WIDTHS.get(kind) or int(kind.lstrip("bfsu")) // 8
    return width * int(count) if count else width


def _aligned(value: int, to: int) -> int:
    return -(-value // to) * to
