"""Modules, libraries, link products, launches in every form, faults."""

from __future__ import annotations

import ctypes
import struct
from pathlib import Path
from typing import Any

import pytest

from .conftest import PTX_HEAD, SAXPY, STORE, Driver

COUNT = 1000


def floats(values: list[float]) -> bytes:
    return struct.pack(f"{len(values)}f", *values)


def buffers(driver: Driver) -> tuple[ctypes.c_uint64, ctypes.c_uint64]:
    x, y = driver.allocate(4 * COUNT), driver.allocate(4 * COUNT)
    driver.write(x, floats([float(i) for i in range(COUNT)]))
    driver.write(y, floats([1.0] * COUNT))
    return x, y


EXPECTED = floats([2.0 * i + 1.0 for i in range(COUNT)])


def arguments(x: ctypes.c_uint64, y: ctypes.c_uint64) -> list[Any]:
    return [ctypes.c_float(2.0), x, y, ctypes.c_uint(COUNT)]


def test_launch_with_parameter_pointers(driver: Driver) -> None:
    x, y = buffers(driver)
    assert driver.launch(driver.function(SAXPY, "saxpy"), arguments(x, y), 4, 256) == 0
    assert driver.read(y, 4 * COUNT) == EXPECTED


def test_launch_with_packed_parameters(driver: Driver) -> None:
    x, y = buffers(driver)
    packed = struct.pack("<f4xQQI", 2.0, x.value, y.value, COUNT)
    size = ctypes.c_size_t(len(packed))
    extra = (ctypes.c_void_p * 5)(1, ctypes.cast(packed, ctypes.c_void_p), 2, ctypes.addressof(size), 0)
    function = driver.function(SAXPY, "saxpy")
    driver("cuLaunchKernel", function, 4, 1, 1, 256, 1, 1, 0, None, None, extra)
    assert driver.read(y, 4 * COUNT) == EXPECTED


class Attribute(ctypes.Structure):
    _fields_ = (("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", ctypes.c_uint * 16))


class Config(ctypes.Structure):
    _fields_ = (
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(Attribute)),
        ("count", ctypes.c_uint),
    )


def launch_config(*attributes: Attribute, grid: int = 4) -> Config:
    array = (Attribute * max(1, len(attributes)))(*attributes)
    return Config((grid, 1, 1), (256, 1, 1), 0, None, array, len(attributes))


@pytest.mark.parametrize("name", ["cuLaunchKernelEx", "cuLaunchKernelEx_ptsz"])
def test_launch_of_a_library_kernel_by_configuration(driver: Driver, name: str) -> None:
    x, y = buffers(driver)
    library = driver.handle("cuLibraryLoadData", SAXPY.encode(), None, None, 0, None, None, 0)
    kernel = driver.handle("cuLibraryGetKernel", library, b"saxpy")
    values = arguments(x, y)
    pointers = (ctypes.c_void_p * 4)(*(ctypes.addressof(value) for value in values))
    cooperative, priority = Attribute(2, 0, (1,)), Attribute(8)
    config = launch_config(cooperative, priority)
    driver(name, ctypes.byref(config), kernel, pointers, None)
    assert driver.read(y, 4 * COUNT) == EXPECTED
    cluster = launch_config(Attribute(4, 0, (3, 1, 1)))
    assert driver.result(name, ctypes.byref(cluster), kernel, pointers, None) == 912
    crowd = launch_config(cooperative, grid=100_000)
    assert driver.result(name, ctypes.byref(crowd), kernel, pointers, None) == 720
    driver("cuLibraryUnload", library)
    assert driver.result(name, ctypes.byref(config), kernel, pointers, None) == 400


@pytest.mark.parametrize(
    ("grid", "block", "shared"),
    [((0, 1, 1), (1, 1, 1), 0), ((1, 65536, 1), (1, 1, 1), 0), ((1, 1, 1), (1025, 1, 1), 0),
     ((1, 1, 1), (1, 1, 65), 0), ((1, 1, 1), (32, 32, 2), 0), ((1, 1, 1), (1, 1, 1), 49153)],
)  # fmt: skip
def test_impossible_shape_is_refused(
    driver: Driver, grid: tuple[int, ...], block: tuple[int, ...], shared: int
) -> None:
    function = driver.function(STORE, "nothing")
    assert driver.result("cuLaunchKernel", function, *grid, *block, shared, None, None, None) == 1


def test_dynamic_shared_memory_above_default_needs_attribute(driver: Driver) -> None:
    function = driver.function(STORE, "nothing")
    shape = (1, 1, 1, 1, 1, 1, 100_000, None, None, None)
    assert driver.result("cuLaunchKernel", function, *shape) == 1
    driver("cuFuncSetAttribute", function, 8, 100_000)
    driver("cuLaunchKernel", function, *shape)
    assert driver.result("cuFuncSetAttribute", function, 8, 300_000) == 1


@pytest.mark.parametrize(("address", "code"), [(0x10, 700), (0x13, 716)])
def test_fault_is_sticky(driver: Driver, address: int, code: int) -> None:
    memory = driver.allocate(64)
    where = ctypes.c_uint64(address if code == 700 else memory.value + 1)
    assert driver.launch(driver.function(STORE, "store"), [where, ctypes.c_uint(1)]) == 0
    assert driver.result("cuCtxSynchronize") == code
    assert driver.result("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(4)) == code
    assert driver.result("cuCtxSynchronize") == code


def test_fault_ends_with_its_context(driver: Driver) -> None:
    """The previous test left a faulted context. The fixture's new context works."""
    memory = driver.allocate(4)
    assert driver.launch(driver.function(STORE, "store"), [memory, ctypes.c_uint(5)]) == 0
    assert driver.read(memory, 4) == b"\5\0\0\0"


def test_write_to_freed_memory_faults(driver: Driver) -> None:
    function = driver.function(STORE, "store")
    memory = driver.allocate(1 << 20)
    driver("cuMemFree_v2", memory)
    driver.launch(function, [memory, ctypes.c_uint(1)])
    assert driver.result("cuCtxSynchronize") == 700


def test_module_globals_and_functions_are_found(driver: Driver) -> None:
    module = driver.handle("cuModuleLoadData", STORE.encode())
    address, size = ctypes.c_uint64(), ctypes.c_size_t()
    driver("cuModuleGetGlobal_v2", ctypes.byref(address), ctypes.byref(size), module, b"counter")
    assert size.value == 4
    assert driver.read(address, 4) == b"\7\0\0\0"
    assert driver.result("cuModuleGetGlobal_v2", None, ctypes.byref(size), module, b"other") == 500
    assert driver.number("cuModuleGetFunctionCount", module, kind=ctypes.c_uint) == 2
    function = driver.handle("cuModuleGetFunction", module, b"store")
    assert driver.result("cuModuleGetFunction", ctypes.byref(ctypes.c_void_p()), module, b"absent") == 500
    assert driver.number("cuFuncGetName", function, kind=ctypes.c_char_p) == b"store"
    assert driver.handle("cuFuncGetModule", function).value == module.value
    layout = []
    for index in range(2):
        offset, bytes_ = ctypes.c_size_t(), ctypes.c_size_t()
        driver(
            "cuFuncGetParamInfo", function, ctypes.c_size_t(index), ctypes.byref(offset), ctypes.byref(bytes_)
        )
        layout.append((offset.value, bytes_.value))
    assert layout == [(0, 8), (8, 4)]
    assert driver.result("cuFuncGetParamInfo", function, ctypes.c_size_t(2), ctypes.byref(size), None) == 1
    driver("cuModuleUnload", module)
    assert driver.launch(function, []) == 400


def test_bad_ptx_reports_line_and_instruction(driver: Driver) -> None:
    text = PTX_HEAD + ".visible .entry bad()\n{\n    frobnicate.u32 %r1;\n    ret;\n}\n"
    log = ctypes.create_string_buffer(400)
    options = (ctypes.c_int * 2)(5, 6)
    values = (ctypes.c_void_p * 2)(ctypes.addressof(log), 400)
    module = ctypes.c_void_p()
    assert driver.result("cuModuleLoadDataEx", ctypes.byref(module), text.encode(), 2, options, values) == 218
    assert b"line 6" in log.value
    assert b"frobnicate" in log.value
    assert values[1] == len(log.value) + 1


def fatbin(entries: list[tuple[int, int, int, bytes]]) -> bytes:
    body = b""
    for kind, target, flags, payload in entries:
        padded = payload + bytes(-len(payload) % 8)
        body += struct.pack(
            "<HHIQIIIIIIQQQ", kind, 0x101, 64, len(padded), 0, 0, 0, target, 0, 0, flags, 0, 0
        )
        body += padded
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def test_fatbin_loads_newest_usable_ptx(driver: Driver) -> None:
    image = fatbin(
        [(2, 90, 0, b"\x7fELF"), (1, 70, 0, STORE.encode()), (1, 90, 0, SAXPY.encode()), (1, 100, 0, b"x")]
    )
    buffer = ctypes.create_string_buffer(image, len(image))
    wrapper = struct.pack("<IIQQ", 0x466243B1, 1, ctypes.addressof(buffer), 0)
    for data in (buffer, wrapper):
        module = driver.handle("cuModuleLoadData", data)
        assert driver.handle("cuModuleGetFunction", module, b"saxpy").value
    assert driver.handle("cuModuleLoadFatBinary", wrapper).value


@pytest.mark.parametrize(
    ("image", "code"),
    [(fatbin([(2, 90, 0, b"\x7fELF")]), 209), (fatbin([(1, 90, 0x8000, b"zstd")]), 999),
     (b"\x7fELF\2\1\1" + bytes(64), 209), (b"\x01\x02\x03\x04", 200), (b"", 200)],
)  # fmt: skip
def test_image_without_usable_ptx_is_refused(driver: Driver, image: bytes, code: int) -> None:
    assert driver.result("cuModuleLoadData", ctypes.byref(ctypes.c_void_p()), image) == code


def test_module_loads_from_file(driver: Driver, tmp_path: Path) -> None:
    path = tmp_path / "saxpy.ptx"
    path.write_text(SAXPY)
    assert driver.handle("cuModuleLoad", str(path).encode()).value
    assert driver.result("cuModuleLoad", ctypes.byref(ctypes.c_void_p()), b"/nowhere/x.ptx") == 301


def test_link_product_is_accepted_by_library_load(driver: Driver) -> None:
    state, product, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
    driver("cuLinkCreate_v2", 0, None, None, ctypes.byref(state))
    for text in (SAXPY, STORE):
        driver(
            "cuLinkAddData_v2",
            state,
            1,
            text.encode(),
            ctypes.c_size_t(len(text) + 1),
            b"x.ptx",
            0,
            None,
            None,
        )
    driver("cuLinkComplete", state, ctypes.byref(product), ctypes.byref(size))
    library = driver.handle("cuLibraryLoadData", product, None, None, 0, None, None, 0)
    driver("cuLinkDestroy", state)
    assert driver.number("cuLibraryGetKernelCount", library, kind=ctypes.c_uint) == 3
    kernel = driver.handle("cuLibraryGetKernel", library, b"store")
    assert driver.number("cuKernelGetName", kernel, kind=ctypes.c_char_p) == b"store"
    assert driver.number("cuKernelGetAttribute", 0, kernel, 0) == 1024
    assert driver.handle("cuKernelGetLibrary", kernel).value == library.value


def test_occupancy_is_limited_by_threads_and_shared_memory(driver: Driver) -> None:
    function = driver.function(STORE, "nothing")
    call = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
    assert driver.number(call, function, 1024, ctypes.c_size_t(0)) == 2
    assert driver.number(call, function, 32, ctypes.c_size_t(0)) == 32
    assert driver.number(call, function, 32, ctypes.c_size_t(100_000)) == 0  # attribute not set yet
    driver("cuFuncSetAttribute", function, 8, 100_000)
    assert driver.number(call, function, 32, ctypes.c_size_t(100_000)) == 2
    assert driver.number(call, function, 1025, ctypes.c_size_t(0)) == 0


def test_handle_of_another_kind_is_refused(driver: Driver) -> None:
    stream = driver.handle("cuStreamCreate", 0)
    assert driver.result("cuEventRecord", stream, None) == 400
    assert driver.result("cuModuleUnload", stream) == 400
    assert driver.launch(stream, []) == 400


def test_legacy_launch_calls_run_kernel(driver: Driver) -> None:
    x, y = buffers(driver)
    function = driver.function(SAXPY, "saxpy")
    driver("cuFuncSetBlockShape", function, 256, 1, 1)
    driver("cuParamSetf", function, 0, ctypes.c_float(2.0))
    driver("cuParamSetv", function, 8, ctypes.byref(x), 8)
    driver("cuParamSetv", function, 16, ctypes.byref(y), 8)
    driver("cuParamSeti", function, 24, COUNT)
    driver("cuParamSetSize", function, 28)
    driver("cuLaunchGrid", function, 4, 1)
    assert driver.read(y, 4 * COUNT) == EXPECTED


def test_fault_stops_concurrent_kernels(driver: Driver) -> None:
    text = STORE.replace("nothing()\n{\n", "nothing()\n{\nagain:\n    bra again;\n")
    spin, store = driver.function(text, "nothing"), driver.function(text, "store")
    one, other = (driver.handle("cuStreamCreate", 1) for _ in range(2))
    assert driver.launch(spin, [], stream=one) == 0
    assert driver.launch(store, [ctypes.c_uint64(16), ctypes.c_uint(1)], stream=other) == 0
    assert driver.result("cuCtxSynchronize") == 700
