"""Queries of modules, functions, libraries and kernels. Codes are those of driver 580.159 on an H200."""

from __future__ import annotations

import ctypes
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .conftest import PTX_HEAD, Driver
from .test_images import DATA

TEXT = (
    PTX_HEAD
    + """
.global .align 4 .u32 hidden = 1;
.visible .global .align 8 .u64 seen = hidden;
.visible .global .attribute(.managed) .align 4 .u32 shared_with_host = 3;
.visible .entry first(.param .u64 p, .param .u32 q) { ret; }
.visible .entry second(.param .align 4 .b8 s[12], .param .u8 c, .param .u64 p) { ret; }
"""
).encode()

OK, INVALID_VALUE, NOT_INITIALIZED, INVALID_DEVICE, INVALID_HANDLE, NOT_FOUND = 0, 1, 3, 101, 400, 500
FILE_NOT_FOUND, NOT_PERMITTED = 301, 800
MAX_DYNAMIC_SHARED, PTX_VERSION, BINARY_VERSION, MAX_THREADS = 8, 5, 6, 0


def out(kind: Any = ctypes.c_void_p) -> Any:
    return ctypes.byref(kind())


@pytest.fixture
def module(driver: Driver) -> ctypes.c_void_p:
    return driver.handle("cuModuleLoadData", TEXT)


@pytest.fixture
def function(driver: Driver, module: ctypes.c_void_p) -> ctypes.c_void_p:
    return driver.handle("cuModuleGetFunction", module, b"first")


@pytest.fixture
def library(driver: Driver) -> ctypes.c_void_p:
    return driver.handle("cuLibraryLoadData", TEXT, None, None, 0, None, None, 0)


@pytest.fixture
def kernel(driver: Driver, library: ctypes.c_void_p) -> ctypes.c_void_p:
    return driver.handle("cuLibraryGetKernel", library, b"first")


def test_module_functions_are_listed(driver: Driver, module: ctypes.c_void_p) -> None:
    call = driver.result
    assert call("cuModuleGetFunction", out(), module, b"absent") == NOT_FOUND
    assert call("cuModuleGetFunction", out(), module, None) == INVALID_VALUE
    assert call("cuModuleGetFunction", out(), None, b"first") == INVALID_HANDLE
    assert driver.number("cuModuleGetFunctionCount", module, kind=ctypes.c_uint) == 2
    assert call("cuModuleGetFunctionCount", None, module) == INVALID_VALUE
    functions = (ctypes.c_void_p * 4)()
    assert call("cuModuleEnumerateFunctions", None, 1, module) == INVALID_VALUE
    assert call("cuModuleEnumerateFunctions", functions, 0, module) == OK
    assert functions[0] is None
    assert call("cuModuleEnumerateFunctions", functions, 4, module) == OK
    names = [driver.number("cuFuncGetName", ctypes.c_void_p(f), kind=ctypes.c_char_p) for f in functions if f]
    assert names == [b"first", b"second"]


def test_module_globals_are_found(driver: Driver, module: ctypes.c_void_p) -> None:
    address, size = ctypes.c_uint64(), ctypes.c_size_t()
    to_address, to_size = ctypes.byref(address), ctypes.byref(size)

    def get(name: bytes | None, dptr: Any = to_address, bytes_: Any = to_size) -> int:
        return driver.result("cuModuleGetGlobal_v2", dptr, bytes_, module, name)

    assert (get(b"seen"), size.value) == (OK, 8)
    assert struct.unpack("<Q", driver.read(address, 8))[0] != 0
    assert (get(b"hidden"), size.value, driver.read(address, 4)) == (OK, 4, b"\1\0\0\0")
    assert get(b"shared_with_host") == OK
    assert get(b"absent") == NOT_FOUND
    assert get(None) == INVALID_VALUE
    assert get(b"seen", dptr=None) == OK
    assert get(b"seen", bytes_=None) == OK
    assert get(b"seen", dptr=None, bytes_=None) == INVALID_VALUE


@pytest.mark.parametrize(
    ("name", "layout"), [(b"first", [(0, 8), (8, 4)]), (b"second", [(0, 12), (12, 1), (16, 8)])]
)
def test_parameter_info_matches_kernel(
    driver: Driver, name: bytes, layout: list[tuple[int, int]], library: ctypes.c_void_p
) -> None:
    kernel = driver.handle("cuLibraryGetKernel", library, name)
    function = driver.handle("cuKernelGetFunction", kernel)
    for call, handle in (("cuFuncGetParamInfo", function), ("cuKernelGetParamInfo", kernel)):
        offset, size = ctypes.c_size_t(), ctypes.c_size_t()

        def get(index: int, at: Any, bytes_: Any, of: Any = handle, call: str = call) -> int:
            return driver.result(call, of, ctypes.c_size_t(index), at, bytes_)

        results = []
        while get(len(results), ctypes.byref(offset), ctypes.byref(size)) == OK:
            results.append((offset.value, size.value))
        assert results == layout
        assert get(len(results), ctypes.byref(offset), None) == INVALID_VALUE
        assert get(0, ctypes.byref(offset), None) == OK
        assert get(0, None, ctypes.byref(size)) == INVALID_VALUE
        assert get(0, ctypes.byref(offset), None, of=None) == INVALID_VALUE


def test_function_queries_return_module_and_name(
    driver: Driver, module: ctypes.c_void_p, function: ctypes.c_void_p
) -> None:
    call = driver.result
    assert driver.number("cuFuncGetName", function, kind=ctypes.c_char_p) == b"first"
    assert call("cuFuncGetName", None, function) == INVALID_VALUE
    assert call("cuFuncGetName", out(), None) == INVALID_VALUE
    assert driver.handle("cuFuncGetModule", function).value == module.value
    assert call("cuFuncGetModule", None, function) == INVALID_VALUE
    assert driver.number("cuFuncIsLoaded", function) == 1
    assert call("cuFuncIsLoaded", None, function) == INVALID_VALUE
    assert call("cuFuncLoad", function) == OK
    assert driver.number("cuFuncGetAttribute", PTX_VERSION, function) == 90
    assert driver.number("cuFuncGetAttribute", BINARY_VERSION, function) == 90
    assert call("cuFuncGetAttribute", out(ctypes.c_int), 99, function) == INVALID_VALUE
    assert call("cuFuncGetAttribute", None, MAX_THREADS, function) == INVALID_VALUE
    assert call("cuFuncSetAttribute", function, PTX_VERSION, 1) == INVALID_VALUE
    assert call("cuFuncSetAttribute", function, 99, 1) == INVALID_VALUE


def test_kernel_as_function_is_accepted_only_by_launch(driver: Driver, kernel: ctypes.c_void_p) -> None:
    call = driver.result
    for handle in (kernel, None):
        assert call("cuFuncGetAttribute", out(ctypes.c_int), PTX_VERSION, handle) == INVALID_HANDLE
        assert call("cuFuncSetAttribute", handle, MAX_DYNAMIC_SHARED, 1) == INVALID_HANDLE
        assert call("cuFuncSetCacheConfig", handle, 1) == INVALID_HANDLE
        assert call("cuFuncGetModule", out(), handle) == INVALID_HANDLE
        assert call("cuFuncIsLoaded", out(ctypes.c_int), handle) == INVALID_HANDLE
        assert call("cuFuncLoad", handle) == INVALID_HANDLE
    assert call("cuFuncGetName", out(), kernel) == INVALID_HANDLE
    occupancy = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
    assert call(occupancy, out(ctypes.c_int), kernel, 32, ctypes.c_size_t(0)) == OK
    assert driver.launch(kernel, [ctypes.c_uint64(), ctypes.c_uint32()]) == OK


def test_library_kernels_are_listed(
    driver: Driver, library: ctypes.c_void_p, kernel: ctypes.c_void_p
) -> None:
    call = driver.result
    assert call("cuLibraryGetKernel", out(), library, b"absent") == NOT_FOUND
    assert call("cuLibraryGetKernel", out(), library, None) == INVALID_VALUE
    assert call("cuLibraryGetKernel", out(), None, b"first") == INVALID_HANDLE
    assert call("cuLibraryGetKernel", None, library, b"first") == INVALID_VALUE
    assert driver.number("cuLibraryGetKernelCount", library, kind=ctypes.c_uint) == 2
    assert call("cuLibraryGetKernelCount", None, library) == INVALID_VALUE
    kernels = (ctypes.c_void_p * 4)()
    assert call("cuLibraryEnumerateKernels", None, 1, library) == INVALID_VALUE
    assert call("cuLibraryEnumerateKernels", kernels, 0, library) == OK
    assert kernels[0] is None
    assert call("cuLibraryEnumerateKernels", kernels, 4, library) == OK
    assert (kernels[0], kernels[2]) == (kernel.value, None)
    assert driver.number("cuKernelGetName", kernel, kind=ctypes.c_char_p) == b"first"
    assert driver.handle("cuKernelGetLibrary", kernel).value == library.value
    function = driver.handle("cuKernelGetFunction", kernel)
    assert driver.number("cuFuncIsLoaded", function) == 1
    assert call("cuKernelGetFunction", out(), None) == INVALID_HANDLE


def test_kernel_attributes_round_trip(driver: Driver, kernel: ctypes.c_void_p) -> None:
    call = driver.result

    def get(attribute: int, device: int = 0) -> int:
        return call("cuKernelGetAttribute", out(ctypes.c_int), attribute, kernel, device)

    assert (get(PTX_VERSION), get(PTX_VERSION, -1), get(PTX_VERSION, 99)) == (
        OK,
        INVALID_DEVICE,
        INVALID_DEVICE,
    )
    assert get(99) == INVALID_VALUE
    assert call("cuKernelGetAttribute", out(ctypes.c_int), PTX_VERSION, None, 0) == INVALID_HANDLE
    assert driver.number("cuKernelGetAttribute", MAX_THREADS, kernel, 0) == 1024
    driver("cuKernelSetAttribute", MAX_DYNAMIC_SHARED, 1024, kernel, 0)
    assert driver.number("cuKernelGetAttribute", MAX_DYNAMIC_SHARED, kernel, 0) == 1024
    function = driver.handle("cuKernelGetFunction", kernel)
    assert driver.number("cuFuncGetAttribute", MAX_DYNAMIC_SHARED, function) == 1024  # in every context
    assert call("cuKernelSetAttribute", MAX_DYNAMIC_SHARED, 1 << 30, kernel, 0) == INVALID_VALUE
    assert call("cuKernelSetAttribute", MAX_DYNAMIC_SHARED, 1, kernel, 9) == INVALID_DEVICE
    assert call("cuKernelSetAttribute", PTX_VERSION, 1, kernel, 0) == INVALID_VALUE
    assert call("cuKernelSetCacheConfig", kernel, 9, 0) == INVALID_VALUE
    assert call("cuKernelSetCacheConfig", kernel, 1, 9) == INVALID_DEVICE


def test_library_globals_are_found(driver: Driver, library: ctypes.c_void_p) -> None:
    address, size = ctypes.c_uint64(), ctypes.c_size_t()
    to_address = ctypes.byref(address)

    def get(call: str, name: bytes | None, dptr: Any = to_address) -> int:
        return driver.result(call, dptr, ctypes.byref(size), library, name)

    assert get("cuLibraryGetGlobal", b"seen") == OK
    assert get("cuLibraryGetGlobal", b"shared_with_host") == OK
    of_global = address.value
    assert get("cuLibraryGetGlobal", b"absent") == NOT_FOUND
    assert get("cuLibraryGetGlobal", None) == INVALID_VALUE
    assert get("cuLibraryGetManaged", b"shared_with_host") == OK
    assert (address.value, size.value) == (of_global, 4)
    assert ctypes.c_uint32.from_address(address.value).value == 3  # the host can read it too
    assert get("cuLibraryGetManaged", b"seen") == NOT_FOUND
    assert get("cuLibraryGetManaged", b"absent") == NOT_FOUND
    assert get("cuLibraryGetManaged", None) == INVALID_VALUE
    assert get("cuLibraryGetManaged", b"shared_with_host", dptr=None) == OK
    for call in ("cuLibraryGetGlobal", "cuLibraryGetManaged"):
        assert driver.result(call, None, None, library, b"shared_with_host") == INVALID_VALUE


def test_unified_function_query_is_refused(driver: Driver, library: ctypes.c_void_p) -> None:
    assert driver.result("cuLibraryGetUnifiedFunction", out(), library, b"first") == INVALID_VALUE
    assert driver.result("cuLibraryGetUnifiedFunction", None, library, b"first") == INVALID_VALUE


def test_library_options_are_checked(driver: Driver, tmp_path: Path) -> None:
    def load(image: Any, *options: int, file: bool = False) -> int:
        call = "cuLibraryLoadFromFile" if file else "cuLibraryLoadData"
        kinds = (ctypes.c_int * 1)(*options) if options else None
        return driver.result(call, out(), image, None, None, 0, kinds, None, len(options))

    preserved, unknown = 1, 9
    assert load(TEXT, preserved) == OK
    assert load(TEXT, unknown) == INVALID_VALUE
    assert load(None) == INVALID_VALUE
    assert driver.result("cuLibraryLoadData", None, TEXT, None, None, 0, None, None, 0) == INVALID_VALUE
    assert driver.result("cuLibraryLoadData", out(), TEXT, None, None, 0, None, None, 1) == INVALID_VALUE
    path = str(DATA / "size.fatbin").encode()
    assert load(path, file=True) == OK
    assert load(path, preserved, file=True) == INVALID_VALUE
    assert load(str(tmp_path / "absent").encode(), file=True) == FILE_NOT_FOUND
    assert load(str(tmp_path).encode(), file=True) == 2
    assert load(None, file=True) == INVALID_VALUE


def test_library_module_cannot_be_unloaded(driver: Driver, library: ctypes.c_void_p) -> None:
    module = driver.handle("cuLibraryGetModule", library)
    assert driver.result("cuModuleUnload", module) == NOT_PERMITTED
    driver("cuLibraryUnload", library)
    assert driver.result("cuModuleUnload", module) == INVALID_HANDLE
    assert driver.result("cuLibraryUnload", library) == INVALID_HANDLE
    assert driver.result("cuLibraryUnload", None) == INVALID_HANDLE


def test_loading_mode_needs_init(driver: Driver, sim_path: Path) -> None:
    assert driver.number("cuModuleGetLoadingMode") == 1  # eager
    assert driver.result("cuModuleGetLoadingMode", None) == INVALID_VALUE
    program = (
        "import ctypes, sys; mode = ctypes.c_int(); "
        "print(ctypes.CDLL(sys.argv[1]).cuModuleGetLoadingMode(ctypes.byref(mode)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program, sim_path], capture_output=True, text=True, check=True, timeout=60
    )
    assert int(result.stdout) == NOT_INITIALIZED
