"""hiprtc over NVRTC."""

from __future__ import annotations

import ctypes
import io
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from elftools.elf.elffile import ELFFile

from tests.corpus import nvrtc

from .conftest import Hip

INVALID_INPUT, INVALID_PROGRAM, COMPILATION, BEFORE_COMPILATION = 3, 4, 6, 9
WITH_NVRTC = pytest.mark.skipif(nvrtc.library() is None, reason="no NVRTC: pip install nvidia-cuda-nvrtc")
HIP_SOURCE = """
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
__device__ uint32_t calls = 3;
template <typename T>
__global__ void __launch_bounds__(64) scale(T *x, uint64_t count, T by)
{
    HIP_DYNAMIC_SHARED(unsigned char, unused)
    const size_t i = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
    if (i < count)
        x[i] *= by;
}
extern "C" __global__ void lanes(uint32_t *to)
{
    const uint32_t other = __shfl_xor(threadIdx.x, 1);
    const unsigned long long odd = __ballot(threadIdx.x & 1);
    const long long before = wall_clock64();
    to[threadIdx.x] = other + (odd == 0xaaaaaaaaull ? 100 : 0) + (wall_clock64() >= before ? 1000 : 0);
#if defined(__AMDGCN__) || !defined(__HIP_PLATFORM_NVIDIA__) || !defined(__HIP_DEVICE_COMPILE__)
#error "for another device"
#endif
}
"""


def create(hip: Hip, source: str, headers: dict[str, str] | None = None) -> ctypes.c_void_p:
    headers = headers or {}
    texts = (ctypes.c_char_p * max(1, len(headers)))(*(text.encode() for text in headers.values()))
    names = (ctypes.c_char_p * max(1, len(headers)))(*(name.encode() for name in headers))
    return hip.handle("hiprtcCreateProgram", source.encode(), b"program.hip", len(headers), texts, names)


def compiled(hip: Hip, program: ctypes.c_void_p, options: Sequence[str] = ()) -> int:
    encoded = (ctypes.c_char_p * max(1, len(options)))(*(option.encode() for option in options))
    return hip.result("hiprtcCompileProgram", program, len(options), encoded)


def text(hip: Hip, what: str, program: ctypes.c_void_p) -> bytes:
    buffer = ctypes.create_string_buffer(hip.asked(f"hiprtcGet{what}Size", program, ctypes.c_size_t))
    hip(f"hiprtcGet{what}", program, buffer)
    return buffer.raw


def code(
    hip: Hip, source: str, options: Sequence[str] = (), names: Sequence[str] = ()
) -> tuple[bytes, list[bytes]]:
    program = create(hip, source)
    for name in names:
        hip("hiprtcAddNameExpression", program, name.encode())
    assert compiled(hip, program, options) == 0, text(hip, "ProgramLog", program).decode()
    lowered: list[bytes] = []
    for name in names:
        result = ctypes.c_char_p()
        hip("hiprtcGetLoweredName", program, name.encode(), ctypes.byref(result))
        lowered.append(result.value or b"")
    image = text(hip, "Code", program)
    hip("hiprtcDestroyProgram", ctypes.byref(program))
    return image, lowered


@WITH_NVRTC
def test_compiled_template_loads_and_runs(hip: Hip) -> None:
    image, (name,) = code(hip, HIP_SOURCE, names=["scale<uint32_t>"])
    module = hip.handle("hipModuleLoadData", image)
    function = hip.handle("hipModuleGetFunction", module, name)
    to = hip.allocate(16)
    hip("hipMemsetD32", to, 3, ctypes.c_size_t(4))
    assert hip.launch(function, [to, ctypes.c_uint64(3), ctypes.c_uint32(5)], block=4) == 0
    assert hip.words(to, 4) == [15, 15, 15, 3]


@WITH_NVRTC
def test_wave_and_clock_functions_have_hip_names(hip: Hip) -> None:
    to = hip.zeroed(32)
    assert hip.launch(hip.function(code(hip, HIP_SOURCE)[0], "lanes"), [to], block=32) == 0
    assert hip.words(to, 32) == [1100 + (lane ^ 1) for lane in range(32)]


@WITH_NVRTC
def test_compiled_code_object_lists_kernels_and_globals(hip: Hip) -> None:
    image, (name,) = code(hip, HIP_SOURCE, names=["scale<float>"])
    elf = ELFFile(io.BytesIO(image))
    assert image[:9] == b"\x7fELF\2\1\1\x40\2"
    (section_by_name,) = elf.get_section_by_name(".note").iter_notes()
    kernels = {
        each[".name"]: each
        for each in msgspec.msgpack.decode(section_by_name["n_descdata"])["amdhsa.kernels"]
    }
    assert set(kernels) == {"lanes", name.decode()}
    arguments = [(each[".offset"], each[".size"]) for each in kernels[name.decode()][".args"]]
    assert arguments == [(0, 8), (8, 8), (16, 4)]
    assert kernels["lanes"][".symbol"] == "lanes.kd"
    assert kernels[name.decode()][".max_flat_workgroup_size"] == 64
    symbols = {each.name: each for each in elf.get_section_by_name(".dynsym").iter_symbols()}
    assert {"lanes", "lanes.kd", "calls"} <= set(symbols)
    assert symbols["calls"]["st_size"] == 4


@WITH_NVRTC
def test_amd_compiler_options_are_dropped_and_others_kept(hip: Hip) -> None:
    source = 'extern "C" __global__ void f(int *x) { *x = VALUE; }'
    options = [
        "--offload-arch=gfx90a",
        "-O3",
        "-mllvm",
        "-amdgpu-early-inline-all=true",
        "-ffast-math",
        "-DVALUE=8",
    ]
    to = hip.zeroed(1)
    assert hip.launch(hip.function(code(hip, source, options)[0], "f"), [to]) == 0
    assert hip.words(to, 1) == [8]


@WITH_NVRTC
def test_program_headers_precede_built_in_headers(hip: Hip) -> None:
    program = create(hip, '#include "mine.h"\n#include <hip/hip_fp16.h>\nMINE', {
        "mine.h": "#define MINE extern \"C\" __global__ void f() { HALF }\n",
        "hip/hip_fp16.h": "#define HALF return;\n",
    })  # fmt: skip
    assert compiled(hip, program) == 0, text(hip, "ProgramLog", program).decode()


@WITH_NVRTC
def test_compile_error_is_logged_with_its_line(hip: Hip) -> None:
    program = create(hip, "\n\nnonsense;\n")
    assert compiled(hip, program) == COMPILATION
    assert b"program.hip(3): error" in text(hip, "ProgramLog", program)
    assert hip.result("hiprtcGetCodeSize", program, ctypes.byref(ctypes.c_size_t())) == INVALID_PROGRAM


@WITH_NVRTC
def test_lowered_names_exist_after_compilation_only(hip: Hip) -> None:
    program, name = create(hip, HIP_SOURCE), ctypes.c_char_p()
    hip("hiprtcAddNameExpression", program, b"lanes")
    assert hip.result("hiprtcGetLoweredName", program, b"lanes", ctypes.byref(name)) == BEFORE_COMPILATION
    assert compiled(hip, program) == 0
    hip("hiprtcGetLoweredName", program, b"lanes", ctypes.byref(name))
    assert name.value == b"lanes"


@WITH_NVRTC
def test_unsupported_code_does_not_compile(hip: Hip) -> None:
    program = create(
        hip,
        'extern "C" __global__ void f() { asm volatile("frob.b32;"); }',
    )
    assert compiled(hip, program) != 0
    assert len(text(hip, "ProgramLog", program)) > 1


def test_version_and_error_names_match_5_2(hip: Hip) -> None:
    major, minor = ctypes.c_int(), ctypes.c_int()
    hip("hiprtcVersion", ctypes.byref(major), ctypes.byref(minor))
    assert (major.value, minor.value) == (9, 0)
    words = hip.library.hiprtcGetErrorString
    words.restype = ctypes.c_char_p
    assert [words(0), words(6), words(12)] == [b"HIPRTC_SUCCESS", b"HIPRTC_ERROR_COMPILATION", None]


def test_invalid_programs_are_refused(hip: Hip) -> None:
    size = ctypes.c_size_t()
    assert hip.result("hiprtcCreateProgram", None, b"", b"", 0, None, None) == INVALID_INPUT
    assert hip.result("hiprtcCompileProgram", None, 0, None) == INVALID_PROGRAM
    assert hip.result("hiprtcGetCodeSize", None, ctypes.byref(size)) == INVALID_PROGRAM
    assert hip.result("hiprtcDestroyProgram", None) == INVALID_INPUT
    assert hip.result("hiprtcDestroyProgram", ctypes.byref(ctypes.c_void_p())) == 0


WITHOUT = """
import ctypes, sys
hip = ctypes.CDLL(sys.argv[1])
program, size = ctypes.c_void_p(), ctypes.c_size_t()
assert hip.hiprtcCreateProgram(ctypes.byref(program), b"", b"", 0, None, None) == 0
assert hip.hiprtcCompileProgram(program, 0, None) == 6
hip.hiprtcGetProgramLogSize(program, ctypes.byref(size))
log = ctypes.create_string_buffer(size.value)
hip.hiprtcGetProgramLog(program, log)
print(log.value.decode(), end="")
"""


def test_missing_nvrtc_is_logged_with_what_to_install(hip_path: Path) -> None:
    environment: dict[str, Any] = os.environ | {"NEUTRINO_NVRTC": "/nowhere/libnvrtc.so.13"}
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT, str(hip_path)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.count("\n") == 1
    assert "/nowhere/libnvrtc.so.13" in ran.stdout
    assert "pip install nvidia-cuda-nvrtc" in ran.stdout
