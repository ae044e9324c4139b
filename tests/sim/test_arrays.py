"""Arrays and mipmapped arrays: creation, and copies by position."""

from __future__ import annotations

import ctypes

import pytest

from .conftest import Driver
from .test_memory_copies import Plain3D, size

INVALID_VALUE, INVALID_HANDLE, NOT_SUPPORTED = 1, 400, 801
FLOAT, UINT8, HALF = 0x20, 0x01, 0x10
LAYERED, CUBEMAP, GATHER, SPARSE = 1, 4, 8, 64
HOST, DEVICE, ARRAY = 1, 2, 3


class Descriptor(ctypes.Structure):
    _fields_ = (
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("format", ctypes.c_int),
        ("channels", ctypes.c_uint),
    )


class Descriptor3D(ctypes.Structure):
    _fields_ = (
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("depth", ctypes.c_size_t),
        ("format", ctypes.c_int),
        ("channels", ctypes.c_uint),
        ("flags", ctypes.c_uint),
    )


def make(
    driver: Driver, width: int, height: int = 0, format_: int = UINT8, channels: int = 1
) -> ctypes.c_void_p:
    descriptor = Descriptor(width, height, format_, channels)
    return driver.handle("cuArrayCreate_v2", ctypes.byref(descriptor))


def free_memory(driver: Driver) -> int:
    return int(driver.number("cuMemGetInfo_v2", None, kind=ctypes.c_size_t))


def test_descriptor_query_returns_creation_values(driver: Driver) -> None:
    before = free_memory(driver)
    array = make(driver, 100, 20, HALF, 4)
    assert free_memory(driver) <= before - 100 * 20 * 8
    descriptor, found_3d = Descriptor(), Descriptor3D(depth=9, flags=9)
    driver("cuArrayGetDescriptor_v2", ctypes.byref(descriptor), array)
    assert (descriptor.width, descriptor.height, descriptor.format, descriptor.channels) == (100, 20, HALF, 4)
    driver("cuArray3DGetDescriptor_v2", ctypes.byref(found_3d), array)
    assert (found_3d.width, found_3d.height, found_3d.depth, found_3d.flags) == (100, 20, 0, 0)
    driver("cuArrayDestroy", array)
    assert free_memory(driver) == before
    assert driver.result("cuArrayDestroy", array) == INVALID_HANDLE
    assert driver.result("cuArrayGetDescriptor_v2", ctypes.byref(descriptor), array) == INVALID_HANDLE


@pytest.mark.parametrize(
    ("extent", "format_", "channels", "flags", "result"),
    [
        ((131072, 0, 0), UINT8, 1, 0, 0),
        ((131073, 0, 0), UINT8, 1, 0, INVALID_VALUE),
        ((0, 1, 0), UINT8, 1, 0, INVALID_VALUE),
        ((8, 65537, 0), UINT8, 1, 0, INVALID_VALUE),
        ((8, 8, 8), FLOAT, 2, 0, 0),
        ((8, 0, 8), FLOAT, 2, 0, INVALID_VALUE),
        ((8, 0, 8), FLOAT, 2, LAYERED, 0),
        ((8, 8, 8), FLOAT, 3, 0, INVALID_VALUE),
        ((8, 8, 0), 0x7F, 1, 0, INVALID_VALUE),
        ((8, 8, 0), 0xC1, 1, 0, INVALID_VALUE),  # UNORM_INT8X2 has two channels
        ((8, 8, 0), 0xC1, 2, 0, 0),
        ((8, 8, 6), UINT8, 1, CUBEMAP, 0),
        ((8, 4, 6), UINT8, 1, CUBEMAP, INVALID_VALUE),
        ((8, 8, 7), UINT8, 1, CUBEMAP, INVALID_VALUE),
        ((8, 8, 12), UINT8, 1, CUBEMAP | LAYERED, 0),
        ((8, 8, 0), UINT8, 1, GATHER, 0),
        ((8, 0, 0), UINT8, 1, GATHER, INVALID_VALUE),
        ((8, 8, 0), UINT8, 1, SPARSE, NOT_SUPPORTED),
        ((8, 8, 0), UINT8, 1, 1 << 20, INVALID_VALUE),
    ],
)
def test_array_descriptor_is_checked(
    driver: Driver, extent: tuple[int, int, int], format_: int, channels: int, flags: int, result: int
) -> None:
    descriptor, array = Descriptor3D(*extent, format_, channels, flags), ctypes.c_void_p()
    assert driver.result("cuArray3DCreate_v2", ctypes.byref(array), ctypes.byref(descriptor)) == result
    if result == 0:
        driver("cuArrayDestroy", array)


def test_array_larger_than_memory_is_refused(driver: Driver) -> None:
    descriptor, array = Descriptor3D(16384, 16384, 16384, FLOAT, 4, 0), ctypes.c_void_p()
    assert driver.result("cuArray3DCreate_v2", ctypes.byref(array), ctypes.byref(descriptor)) == 2


def test_row_copies_with_array_round_trip(driver: Driver) -> None:
    first, second = make(driver, 16, 0, UINT8, 2), make(driver, 16, 0, HALF, 1)
    memory, back = driver.allocate(32), ctypes.create_string_buffer(32)
    driver("cuMemcpyHtoA_v2", first, size(0), bytes(range(32)), size(32))
    driver("cuMemcpyAtoA_v2", second, size(2), first, size(4), size(8))
    driver("cuMemcpyAtoD_v2", memory, second, size(0), size(32))
    assert driver.read(memory, 32)[2:10] == bytes(range(4, 12))
    driver("cuMemsetD8_v2", memory, 0xEE, size(32))
    driver("cuMemcpyDtoA_v2", first, size(30), memory, size(2))
    driver("cuMemcpyAtoH_v2", back, first, size(0), size(32))
    assert back.raw == bytes(range(30)) + b"\xee\xee"
    for copy in (
        ("cuMemcpyAtoH_v2", back, first, size(2), size(32)),  # past its end
        ("cuMemcpyAtoH_v2", back, first, size(1), size(2)),  # not at the begin of an element
        ("cuMemcpyAtoD_v2", memory, memory, size(0), size(2)),  # not an array
        ("cuMemcpyAtoA_v2", make(driver, 16, 0, FLOAT), size(0), first, size(0), size(4)),
        ("cuMemcpyAtoH_v2", back, make(driver, 4, 2), size(0), size(4)),  # not one row
    ):
        assert driver.result(*copy) == INVALID_VALUE


def test_asynchronous_array_copies_run_in_stream_order(driver: Driver) -> None:
    stream = driver.handle("cuStreamCreate", 1)
    array, back = make(driver, 64), ctypes.create_string_buffer(64)
    source = ctypes.create_string_buffer(b"a" * 64, 64)
    driver("cuMemcpyHtoAAsync_v2", array, size(0), source, size(64), stream)
    ctypes.memset(source, ord("b"), 64)
    driver("cuMemcpyAtoHAsync_v2", back, array, size(0), size(64), stream)
    driver("cuStreamSynchronize", stream)
    assert back.raw == b"a" * 64


def test_box_copies_with_array_round_trip(driver: Driver) -> None:
    descriptor = Descriptor3D(4, 4, 4, UINT8, 1, 0)
    first, second = (driver.handle("cuArray3DCreate_v2", ctypes.byref(descriptor)) for _ in "ab")
    source = ctypes.create_string_buffer(bytes(range(64)), 64)
    copy = Plain3D(srcType=HOST, srcHost=ctypes.addressof(source), dstType=ARRAY, dstArray=first.value)
    copy.Width = copy.Height = copy.Depth = 4
    driver("cuMemcpy3D_v2", ctypes.byref(copy))
    copy = Plain3D(srcType=ARRAY, srcArray=first.value, srcX=1, srcY=1, srcZ=1)
    copy.dstType, copy.dstArray = ARRAY, second.value
    copy.Width = copy.Height = copy.Depth = 2
    driver("cuMemcpy3DAsync_v2", ctypes.byref(copy), None)
    memory = driver.allocate(8)
    copy = Plain3D(srcType=ARRAY, srcArray=second.value, dstType=DEVICE, dstDevice=memory.value)
    copy.Width = copy.Height = copy.Depth = 2
    driver("cuMemcpy3D_v2", ctypes.byref(copy))
    assert driver.read(memory, 8) == bytes(16 * z + 4 * y + x for z in (1, 2) for y in (1, 2) for x in (1, 2))
    copy.srcZ = 3
    assert driver.result("cuMemcpy3D_v2", ctypes.byref(copy)) == INVALID_VALUE


def test_graph_after_array_destroy_still_copies(driver: Driver) -> None:
    array, memory = make(driver, 8), driver.allocate(8)
    driver("cuMemcpyHtoA_v2", array, size(0), b"in array", size(8))
    graph = driver.handle("cuGraphCreate", 0)
    copy = Plain3D(srcType=ARRAY, srcArray=array.value, srcX=3, dstType=DEVICE, dstDevice=memory.value)
    copy.Width, copy.Height, copy.Depth = 5, 1, 1
    context = driver.handle("cuCtxGetCurrent")
    node = driver.handle("cuGraphAddMemcpyNode", graph, None, size(0), ctypes.byref(copy), context)
    plain = Plain3D()
    driver("cuGraphMemcpyNodeGetParams", node, ctypes.byref(plain))
    assert (plain.srcArray, plain.srcX, plain.Width, plain.dstDevice) == (array.value, 3, 5, memory.value)
    driver("cuArrayDestroy", array)
    executable = driver.handle("cuGraphInstantiateWithFlags", graph, ctypes.c_ulonglong(0))
    driver("cuGraphLaunch", executable, None)
    assert driver.read(memory, 5) == b"array"


def test_mipmapped_array_levels_have_halved_extents(driver: Driver) -> None:
    before = free_memory(driver)
    request, descriptor = Descriptor3D(16, 4, 0, FLOAT, 1, 0), Descriptor3D()
    whole = driver.handle("cuMipmappedArrayCreate", ctypes.byref(request), 99)
    levels = [driver.handle("cuMipmappedArrayGetLevel", whole, level) for level in range(5)]
    extents = []
    for level in levels:
        driver("cuArray3DGetDescriptor_v2", ctypes.byref(descriptor), level)
        extents.append((descriptor.width, descriptor.height, descriptor.depth))
    assert extents == [(16, 4, 0), (8, 2, 0), (4, 1, 0), (2, 1, 0), (1, 1, 0)]
    level, back = ctypes.c_void_p(), ctypes.create_string_buffer(16)
    assert driver.result("cuMipmappedArrayGetLevel", ctypes.byref(level), whole, 5) == INVALID_VALUE
    driver("cuMemcpyHtoA_v2", levels[2], size(0), b"sixteen bytes...", size(16))
    driver("cuMemcpyAtoH_v2", back, levels[2], size(0), size(16))
    assert back.raw == b"sixteen bytes..."
    assert driver.result("cuArrayDestroy", levels[0]) == INVALID_HANDLE
    driver("cuMipmappedArrayDestroy", whole)
    assert driver.result("cuMipmappedArrayDestroy", whole) == INVALID_HANDLE
    assert driver.result("cuArray3DGetDescriptor_v2", ctypes.byref(descriptor), levels[1]) == INVALID_HANDLE
    assert free_memory(driver) == before


def test_memory_requirements_of_plain_array_are_refused(driver: Driver) -> None:
    array, requirements = make(driver, 8), (ctypes.c_size_t * 8)()
    assert driver.result("cuArrayGetMemoryRequirements", requirements, array, 0) == INVALID_VALUE
    assert driver.result("cuArrayGetSparseProperties", requirements, array) == INVALID_VALUE
    assert driver.result("cuArrayGetPlane", requirements, array, 0) == INVALID_VALUE
    assert driver.result("cuArrayGetPlane", requirements, None, 0) == INVALID_HANDLE


def test_arrays_end_with_their_context(loaded: Driver) -> None:
    context = loaded.handle("cuCtxCreate_v4", None, 0, 0)
    before = free_memory(loaded)
    descriptor = Descriptor3D(64, 64, 0, FLOAT, 1, 0)
    array = make(loaded, 4096, 64)
    loaded.handle("cuMipmappedArrayCreate", ctypes.byref(descriptor), 3)
    loaded("cuCtxDestroy_v2", context)
    context = loaded.handle("cuCtxCreate_v4", None, 0, 0)
    assert free_memory(loaded) == before
    assert loaded.result("cuArrayDestroy", array) == INVALID_HANDLE
    loaded("cuCtxDestroy_v2", context)
