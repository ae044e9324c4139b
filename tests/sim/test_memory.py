"""Memory: allocation, copies, memset, pools, pointer attributes, virtual memory."""

from __future__ import annotations

import ctypes

import pytest

from .conftest import Driver

ARENA = 0x300000000000
GRANULE = 2 << 20


def size(value: int) -> ctypes.c_size_t:
    return ctypes.c_size_t(value)


def test_allocation_round_trips_and_frees(driver: Driver) -> None:
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    driver("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
    before = free.value
    memory = driver.allocate(1000)
    driver("cuMemGetInfo_v2", ctypes.byref(free), None)
    assert free.value < before
    driver.write(memory, bytes(range(250)) * 4)
    assert driver.read(memory, 1000) == bytes(range(250)) * 4
    driver("cuMemFree_v2", memory)
    driver("cuMemGetInfo_v2", ctypes.byref(free), None)
    assert free.value == before
    assert driver.result("cuMemFree_v2", memory) == 1


def test_allocation_beyond_memory_fails(driver: Driver) -> None:
    address = ctypes.c_uint64()
    assert driver.result("cuMemAlloc_v2", ctypes.byref(address), size(9 << 30)) == 2
    assert driver.result("cuMemAlloc_v2", ctypes.byref(address), size(0)) == 1


def test_copy_past_an_allocation_is_refused(driver: Driver) -> None:
    memory = driver.allocate(64)
    buffer = ctypes.create_string_buffer(128)
    assert driver.result("cuMemcpyDtoH_v2", buffer, memory, size(65)) == 1
    assert driver.result("cuMemcpyHtoD_v2", ctypes.c_uint64(0x1000), buffer, size(4)) == 1


def test_address_range_contains_address(driver: Driver) -> None:
    memory = driver.allocate(1000)
    base, length = ctypes.c_uint64(), ctypes.c_size_t()
    inside = ctypes.c_uint64(memory.value + 999)
    driver("cuMemGetAddressRange_v2", ctypes.byref(base), ctypes.byref(length), inside)
    assert (base.value, length.value) == (memory.value, 1000)
    past = ctypes.c_uint64(memory.value + 1000)
    assert driver.result("cuMemGetAddressRange_v2", None, None, past) == 500


@pytest.mark.parametrize(
    ("call", "value", "unit"),
    [("cuMemsetD8_v2", 0x5A, 1), ("cuMemsetD16_v2", 0x1234, 2), ("cuMemsetD32_v2", 0x89ABCDEF, 4)],
)
def test_memset_writes_every_element(driver: Driver, call: str, value: int, unit: int) -> None:
    memory = driver.allocate(40)
    driver("cuMemsetD8_v2", memory, 0, size(40))
    driver(call, memory, value, size(5))
    assert driver.read(memory, 40) == value.to_bytes(unit, "little") * 5 + bytes(40 - 5 * unit)


def test_memset_2d_keeps_pitch_gaps(driver: Driver) -> None:
    memory = driver.allocate(48)
    driver("cuMemsetD8_v2", memory, 0, size(48))
    driver("cuMemsetD2D32_v2", memory, size(16), 0xFFFFFFFF, size(2), size(3))
    assert driver.read(memory, 48) == (b"\xff" * 8 + bytes(8)) * 3


class Copy2D(ctypes.Structure):
    _fields_ = [
        (side + name, kind)
        for side in ("src", "dst")
        for name, kind in (
            ("X", ctypes.c_size_t),
            ("Y", ctypes.c_size_t),
            ("Type", ctypes.c_int),
            ("Host", ctypes.c_void_p),
            ("Device", ctypes.c_uint64),
            ("Array", ctypes.c_void_p),
            ("Pitch", ctypes.c_size_t),
        )
    ] + [("Width", ctypes.c_size_t), ("Height", ctypes.c_size_t)]


def test_copy_2d_round_trips(driver: Driver) -> None:
    picture = bytes(range(64))  # 8 rows of 8
    source = ctypes.create_string_buffer(picture, 64)
    memory = driver.allocate(3 * 32)
    driver("cuMemsetD8_v2", memory, 0, size(96))
    copy = Copy2D(srcX=2, srcY=1, srcType=1, srcHost=ctypes.addressof(source), srcPitch=8)
    copy.dstType, copy.dstDevice, copy.dstPitch, copy.Width, copy.Height = 2, memory.value, 32, 5, 3
    driver("cuMemcpy2DUnaligned_v2", ctypes.byref(copy))
    rows = [picture[8 * y + 2 : 8 * y + 7] for y in (1, 2, 3)]
    assert driver.read(memory, 96) == b"".join(row + bytes(27) for row in rows)
    copy.Height = 4
    assert driver.result("cuMemcpy2D_v2", ctypes.byref(copy)) == 1, "the fourth row is outside the allocation"


def test_pageable_source_may_change_after_an_asynchronous_copy(driver: Driver) -> None:
    stream = driver.handle("cuStreamCreate", 1)
    memory = driver.allocate(1 << 20)
    source = ctypes.create_string_buffer(b"a" * (1 << 20), 1 << 20)
    driver("cuMemcpyHtoDAsync_v2", memory, source, size(1 << 20), stream)
    ctypes.memset(source, ord("b"), 1 << 20)
    driver("cuStreamSynchronize", stream)
    assert driver.read(memory, 1 << 20) == b"a" * (1 << 20)


def query_attribute(driver: Driver, id_: int, address: int, kind: type) -> int:
    value = kind()
    driver("cuPointerGetAttribute", ctypes.byref(value), id_, ctypes.c_uint64(address))
    return int(value.value or 0)


def test_pointer_attributes_tell_device_host_and_managed_apart(driver: Driver) -> None:
    device = driver.allocate(256).value
    host = driver.handle("cuMemHostAlloc", size(256), 0).value
    managed = driver.number("cuMemAllocManaged", size(256), 1, kind=ctypes.c_uint64)
    assert host is not None
    assert [query_attribute(driver, 2, p, ctypes.c_uint) for p in (device, host, managed)] == [2, 1, 2]
    assert [query_attribute(driver, 8, p, ctypes.c_ubyte) for p in (device, host, managed)] == [0, 0, 1]
    assert query_attribute(driver, 11, device + 100, ctypes.c_uint64) == device
    assert query_attribute(driver, 12, device + 100, ctypes.c_size_t) == 256
    assert query_attribute(driver, 1, device, ctypes.c_void_p) == driver.handle("cuCtxGetCurrent").value
    value = ctypes.c_uint()
    on_stack = ctypes.c_uint64(ctypes.addressof(value))
    assert driver.result("cuPointerGetAttribute", ctypes.byref(value), 2, on_stack) == 1
    driver("cuMemFreeHost", ctypes.c_void_p(host))


def test_prefetch_of_other_memory_is_refused(driver: Driver) -> None:
    managed = ctypes.c_uint64(driver.number("cuMemAllocManaged", size(256), 1, kind=ctypes.c_uint64))
    device = driver.allocate(256)
    assert driver.result("cuMemPrefetchAsync", managed, size(256), 0, None) == 0
    assert driver.result("cuMemPrefetchAsync", managed, size(257), 0, None) == 1
    assert driver.result("cuMemPrefetchAsync", device, size(256), 0, None) == 1


def test_registered_memory_is_device_accessible_until_unregistered(driver: Driver) -> None:
    memory = ctypes.create_string_buffer(4096)
    driver("cuMemHostRegister_v2", memory, size(4096), 0)
    assert driver.result("cuMemHostRegister_v2", memory, size(4096), 0) == 712
    assert driver.number("cuMemHostGetDevicePointer_v2", memory, 0, kind=ctypes.c_uint64) == ctypes.addressof(
        memory
    )
    driver("cuMemHostUnregister", memory)
    assert driver.result("cuMemHostUnregister", memory) == 713


def test_pool_counts_used_bytes(driver: Driver) -> None:
    pool = driver.handle("cuDeviceGetMemPool", 0)
    stream = driver.handle("cuStreamCreate", 0)

    def used() -> int:
        value = ctypes.c_uint64()
        driver("cuMemPoolGetAttribute", pool, 7, ctypes.byref(value))
        return value.value

    before = used()
    memory = ctypes.c_uint64(driver.number("cuMemAllocAsync", size(5000), stream, kind=ctypes.c_uint64))
    assert used() == before + 5000
    driver("cuMemsetD8Async", memory, 3, size(5000), stream)
    driver("cuMemFreeAsync", memory, stream)
    driver("cuStreamSynchronize", stream)
    assert used() == before
    assert driver.result("cuMemsetD8Async", memory, 3, size(1), stream) == 1


class Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class Properties(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("handles", ctypes.c_int),
        ("location", Location),
        ("win32", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    )


class Access(ctypes.Structure):
    _fields_ = (("location", Location), ("flags", ctypes.c_int))


def create_physical(driver: Driver) -> ctypes.c_uint64:
    properties = Properties(type=1, location=Location(1, 0))
    assert (
        driver.number("cuMemGetAllocationGranularity", ctypes.byref(properties), 0, kind=ctypes.c_size_t)
        == GRANULE
    )
    return ctypes.c_uint64(
        driver.number(
            "cuMemCreate", size(GRANULE), ctypes.byref(properties), ctypes.c_uint64(0), kind=ctypes.c_uint64
        )
    )


def map_at(driver: Driver, address: int, memory: ctypes.c_uint64) -> None:
    where = ctypes.c_uint64(address)
    driver("cuMemMap", where, size(GRANULE), size(0), memory, ctypes.c_uint64(0))
    access = Access(Location(1, 0), 3)
    driver("cuMemSetAccess", where, size(GRANULE), ctypes.byref(access), size(1))


def test_fixed_address_can_be_remapped(driver: Driver) -> None:
    arguments = (size(2 * GRANULE), size(0), ctypes.c_uint64(ARENA), ctypes.c_uint64(0))
    base = driver.number("cuMemAddressReserve", *arguments, kind=ctypes.c_uint64)
    assert base == ARENA
    first, second = create_physical(driver), create_physical(driver)
    where = ctypes.c_uint64(base)
    assert driver.result("cuMemsetD8_v2", where, 0, size(1)) == 1, "reserved only"
    map_at(driver, base, first)
    driver("cuMemsetD8_v2", where, 0x11, size(GRANULE))
    assert driver.result("cuMemMap", where, size(GRANULE), size(0), second, ctypes.c_uint64(0)) == 1
    driver("cuMemUnmap", where, size(GRANULE))
    map_at(driver, base, second)
    driver("cuMemsetD8_v2", where, 0x22, size(GRANULE))
    map_at(driver, base + GRANULE, first)  # the same memory elsewhere
    assert driver.read(ctypes.c_uint64(base + GRANULE), GRANULE) == b"\x11" * GRANULE
    assert driver.read(where, GRANULE) == b"\x22" * GRANULE

    retained = ctypes.c_uint64()
    driver("cuMemRetainAllocationHandle", ctypes.byref(retained), where)
    assert retained.value == second.value
    for handle in (retained, first, second):
        driver("cuMemRelease", handle)
    assert driver.result("cuMemRelease", second) == 1
    assert driver.read(where, 1) == b"\x22", "a mapping outlives the handle"
    assert driver.result("cuMemAddressFree", where, size(2 * GRANULE)) == 1, "still mapped"
    driver("cuMemUnmap", where, size(2 * GRANULE))
    driver("cuMemAddressFree", where, size(2 * GRANULE))
