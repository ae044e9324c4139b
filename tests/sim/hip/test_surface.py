"""Exports and their versions, device queries and error names."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from benchguard.codegen.errors import CodegenError
from benchguard.codegen.exports import read_exports
from benchguard.codegen.exports_file import load_exports
from benchguard.codegen.hip import find_hip_headers
from benchguard.codegen.vendor import HIP
from benchguard.toolchain.paths import SOURCE

from .conftest import INVALID_VALUE, NOT_SUPPORTED, Hip

PROGRAMS = Path(__file__).parents[1] / "programs"
NOT_INITIALIZED, NO_DEVICE, INVALID_DEVICE, UNKNOWN = 3, 100, 101, 999


def test_exports_and_versions_match_amds_library(hip_path: Path) -> None:
    ours, theirs = read_exports(hip_path), load_exports(SOURCE / "sim" / "hip" / "exports.txt")
    assert len(theirs.names) == 409
    assert (ours.soname, ours.versions) == (theirs.soname, theirs.versions)
    assert dict(ours.version_of) == {**dict(theirs.version_of), "simInject": theirs.versions[0].name}


def test_every_export_has_its_own_address(hip_path: Path) -> None:
    with hip_path.open("rb") as file:
        symbols = list(ELFFile(file).get_section_by_name(".dynsym").iter_symbols())
    defined = [symbol for symbol in symbols if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_value"]]
    assert len({symbol["st_value"] for symbol in defined}) == len(defined) == 410


def test_other_cuda_libraries_of_the_process_are_not_called(
    hip_path: Path, native: Path, compile_c: Callable[..., Path]
) -> None:
    cuda = native / "sim" / "libcuda.so.1"
    links = (str(cuda), str(native / "sim" / "libcudart.so.13"), str(hip_path))
    program = compile_c("hip_alone", PROGRAMS / "hip_alone.c", links=("-Wl,--no-as-needed", *links))
    environment = os.environ | {"LD_LIBRARY_PATH": f"{hip_path.parent}:{cuda.parent}"}
    ran = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert (ran.stdout, ran.stderr) == (f"hip 0 0 0, cuda {NOT_INITIALIZED}\n", "")


def test_device_count_is_one(hip: Hip) -> None:
    assert (hip.number("hipGetDeviceCount"), hip.number("hipGetDevice")) == (1, 0)
    assert hip.result("hipSetDevice", 1) == INVALID_DEVICE
    assert hip.result("hipDeviceGetAttribute", ctypes.byref(ctypes.c_int()), 10, 1) == INVALID_DEVICE
    assert hip.result("hipDeviceGetAttribute", ctypes.byref(ctypes.c_int()), 9000, 0) == INVALID_VALUE


def test_device_properties_match_the_header_layout(hip_path: Path, compile_c: Callable[..., Path]) -> None:
    try:
        folder = find_hip_headers().folder
    except CodegenError as error:
        pytest.skip(str(error))
    flags = ("-isystem", str(folder), *(f"-D{name}" for name in HIP.defines))
    program = compile_c("hip_properties", PROGRAMS / "hip_properties.c", flags=flags, links=(str(hip_path),))
    environment = os.environ | {"LD_LIBRARY_PATH": str(hip_path.parent), "SIM_GPU": "t4"}
    ran = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=240, check=True)
    assert ran.stdout.splitlines() == [
        "name Tesla T4",
        "architecture sim",
        "bytes 15843721216",
        "warp 32 32",
        "units 40 40",
        "clock 1590000 1590000",
        "block 1024,1024,64 1024",
        "shared 49152 49152",
        "last members 1 0",
        "doubles 1, kernels that launch kernels 0",
    ]


def test_error_names_match_amds_library(hip: Hip) -> None:
    for function in (hip.library.hipGetErrorName, hip.library.hipGetErrorString):
        function.restype = ctypes.c_char_p
        assert function(NO_DEVICE) == b"hipErrorNoDevice"
        assert function(UNKNOWN) == function(77) == b"hipErrorUnknown"


def test_last_error_is_that_of_the_last_call(hip: Hip) -> None:
    """As of 5.2: success is remembered, too (HIP_RETURN in clr's hip_internal.hpp)."""
    assert hip.result("hipMalloc", None, 8) == INVALID_VALUE
    assert hip.result("hipPeekAtLastError") == hip.result("hipPeekAtLastError") == INVALID_VALUE
    assert (hip.result("hipGetLastError"), hip.result("hipGetLastError")) == (INVALID_VALUE, 0)
    assert hip.result("hipMalloc", None, 8) == INVALID_VALUE
    hip("hipFree", None)
    assert hip.result("hipGetLastError") == 0


def test_unsupported_function_is_reported_once(hip: Hip, capfd: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert hip.result("hipBindTexture", None, None, None, None, 0) == NOT_SUPPORTED
    assert capfd.readouterr().err == "CPU driver: hipBindTexture is not supported\n"


def test_versions_match_the_header(hip: Hip) -> None:
    assert hip.number("hipRuntimeGetVersion") == hip.number("hipDriverGetVersion")
    assert hip.number("hipRuntimeGetVersion") // 10_000_000 == 5
    assert hip.result("hipRuntimeGetVersion", None) == INVALID_VALUE


def test_created_context_is_the_device_context(hip: Hip) -> None:
    current, device = hip.handle("hipCtxGetCurrent"), ctypes.c_int(-1)
    assert hip.handle("hipDevicePrimaryCtxRetain", 0).value == current.value
    handle = hip.handle("hipCtxCreate", 0, 0)
    hip("hipCtxGetDevice", ctypes.byref(device))
    assert (handle.value, device.value) == (current.value, 0)
    hip("hipCtxDestroy", handle)
    hip("hipDevicePrimaryCtxRelease", 0)
    assert hip.handle("hipCtxGetCurrent").value == current.value


@pytest.mark.parametrize(
    ("rule", "calls"), [("hipMalloc:2=fail(2)", [0, 2, 0]), ("cuMemAlloc*=fail(2)", [2, 2, 2])]
)
def test_injected_fault_applies_to_both_names(hip_path: Path, rule: str, calls: list[int]) -> None:
    """SIM_INJECT, read by the first call of any function."""
    script = (
        f"import ctypes; hip = ctypes.CDLL({str(hip_path)!r}); at = ctypes.c_void_p()\n"
        "print([hip.hipMalloc(ctypes.byref(at), 8) for _ in range(3)], hip.hipPeekAtLastError())"
    )
    environment = os.environ | {"SIM_INJECT": rule}
    ran = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    assert ran.stdout.strip() == f"{calls} {calls[-1]}"
