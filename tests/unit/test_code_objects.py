"""AMD's own library and ELF readers accept the code objects of tests/support/code_objects.py."""

from __future__ import annotations

import ctypes
import io
import struct
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard
from elftools.elf.elffile import ELFFile

from tests.support.code_objects import (
    HOST,
    SIM,
    bundle,
    code_object,
    compressed,
    globals_of,
    kernels_of,
    sim_bundle,
)
from tests.support.kernels import PTX_HEAD, SAXPY

COMGR = Path(sys.prefix) / "hip" / "usr" / "lib" / "x86_64-linux-gnu" / "libamd_comgr.so.2"
_EXECUTABLE = 8  # AMD_COMGR_DATA_KIND_EXECUTABLE
VARIED = (
    PTX_HEAD
    + """
.visible .global .align 4 .u32 counter = 7;
.const .align 8 .b8 table[20] = {1, 2, 3};
.visible .entry varied(
    .param .u8 byte, .param .align 16 .b8 whole[24], .param .u16 half, // a comment, (with brackets)
    .param .u64 .ptr .global .align 4 to)
.maxntid 128, 1, 1
{
    .shared .align 4 .b8 tile[256];
    .local .align 8 .b8 spilt[40];
    { ret; }
}
"""
)


def metadata(image: bytes) -> dict[str, Any]:
    notes = ELFFile(io.BytesIO(image)).get_section_by_name(".note").iter_notes()
    (items,) = [each for each in notes if each["n_name"] == "AMDGPU"]
    return dict(msgspec.msgpack.decode(items["n_descdata"]))


def test_the_header_is_that_of_a_code_object_v4() -> None:
    image = code_object(SAXPY)
    assert image[:9] == b"\x7fELF\2\1\1\x40\2"  # 64 bits, little-endian, ELFOSABI_AMDGPU_HSA, of version 4
    assert struct.unpack_from("<HH", image, 16) == (3, 224)  # ET_DYN, EM_AMDGPU
    assert metadata(code_object(SAXPY))["amdhsa.version"] == [1, 1]


def test_arguments_stand_where_ptx_has_them_and_hidden_ones_follow() -> None:
    (kernel,) = metadata(code_object(VARIED))["amdhsa.kernels"]
    explicit = [each for each in kernel[".args"] if not each[".value_kind"].startswith("hidden_")]
    assert [(each[".offset"], each[".size"], each[".value_kind"]) for each in explicit] == [
        (0, 1, "by_value"),
        (16, 24, "by_value"),
        (40, 2, "by_value"),
        (48, 8, "global_buffer"),
    ]
    assert kernel[".args"][4] == {".offset": 56, ".size": 8, ".value_kind": "hidden_global_offset_x"}
    assert kernel[".kernarg_segment_size"] == 56 + 7 * 8
    assert (kernel[".group_segment_fixed_size"], kernel[".private_segment_fixed_size"]) == (256, 40)


def test_pointers_are_seen_where_the_compiler_does_not_mark_them() -> None:
    assert [each.pointer for each in kernels_of(SAXPY)[0].parameters] == [False, True, True, False]


def test_symbols_are_kernels_descriptors_and_globals() -> None:
    elf = ELFFile(io.BytesIO(code_object(VARIED)))
    for table in (".dynsym", ".symtab"):
        symbols = {each.name: each for each in elf.get_section_by_name(table).iter_symbols() if each.name}
        assert set(symbols) == {"varied", "varied.kd", "counter", "table"}
        assert symbols["varied"]["st_info"]["type"] == "STT_FUNC"
        assert symbols["varied.kd"]["st_size"] == 64
        assert (symbols["counter"]["st_size"], symbols["table"]["st_size"]) == (4, 20)
    assert [each.name for each in globals_of(VARIED)] == ["counter", "table"]


@pytest.mark.skipif(not COMGR.is_file(), reason=f"no {COMGR}: python build.py hip")
def test_amds_code_object_manager_reads_the_metadata() -> None:
    try:
        comgr = ctypes.CDLL(str(COMGR))
    except OSError as error:
        pytest.skip(f"libamd_comgr.so.2 does not load here: {error}; apt-get install libllvm15")
    image = code_object(VARIED)

    def made(call: Callable[..., int], *arguments: Any) -> ctypes.c_uint64:
        value = ctypes.c_uint64()
        assert call(*arguments, ctypes.byref(value)) == 0
        return value

    def text(node: ctypes.c_uint64) -> bytes:
        size = ctypes.c_size_t()
        assert comgr.amd_comgr_get_metadata_string(node, ctypes.byref(size), None) == 0
        buffer = ctypes.create_string_buffer(size.value)
        assert comgr.amd_comgr_get_metadata_string(node, ctypes.byref(size), buffer) == 0
        return buffer.value

    data = made(comgr.amd_comgr_create_data, _EXECUTABLE)
    assert comgr.amd_comgr_set_data(data, ctypes.c_size_t(len(image)), image) == 0
    root = made(comgr.amd_comgr_get_data_metadata, data)
    kernels = made(comgr.amd_comgr_metadata_lookup, root, b"amdhsa.kernels")
    kernel = made(comgr.amd_comgr_index_list_metadata, kernels, ctypes.c_size_t(0))
    assert text(made(comgr.amd_comgr_metadata_lookup, kernel, b".symbol")) == b"varied.kd"
    assert text(made(comgr.amd_comgr_metadata_lookup, kernel, b".group_segment_fixed_size")) == b"256"


def test_entries_of_a_bundle_are_aligned_and_in_order() -> None:
    data = bundle({HOST: b"", SIM: b"code", "hipv4-amdgcn-amd-amdhsa--gfx90a": b"more"})
    assert data[:24] == b"__CLANG_OFFLOAD_BUNDLE__"
    assert struct.unpack_from("<Q", data, 24) == (3,)
    at, result = 32, list[tuple[int, bytes, str]]()
    for _ in range(3):
        offset, size, length = struct.unpack_from("<QQQ", data, at)
        result.append((offset, data[offset : offset + size], data[at + 24 : at + 24 + length].decode()))
        at += 24 + length
    assert result == [
        (4096, b"", HOST),
        (4096, b"code", SIM),
        (8192, b"more", "hipv4-amdgcn-amd-amdhsa--gfx90a"),
    ]


@pytest.mark.parametrize(("version", "header"), [(1, 20), (2, 24), (3, 32)])
def test_compressed_bundles_have_the_header_of_their_version(version: Any, header: int) -> None:
    plain = sim_bundle(SAXPY)
    for method, unpack in (("zlib", zlib.decompress), ("zstd", zstandard.decompress)):
        packed = compressed(plain, method, version)  # type: ignore[arg-type]
        assert struct.unpack_from("<4sHH", packed) == (b"CCOB", version, int(method == "zstd"))
        assert unpack(packed[header:]) == plain
        if version == 2:
            assert struct.unpack_from("<II", packed, 8) == (len(packed), len(plain))
        if version == 3:
            assert struct.unpack_from("<QQ", packed, 8) == (len(packed), len(plain))
