"""Attributes of pointers, page-locked host memory, IPC handles, pitched memory."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .conftest import Driver
from .test_memory import GRANULE, map_at, query_attribute, size
from .test_memory_sharing import allocate_from_pool, create, make_pool, none

INVALID_VALUE, NOT_SUPPORTED, REGISTERED = 1, 801, 712
CONTEXT, TYPE, DEVICE_POINTER, HOST_POINTER, TOKENS, SYNC, BUFFER = 1, 2, 3, 4, 5, 6, 7
ORDINAL, IPC, START, LENGTH, MAPPED, HANDLES, RDMA, ACCESS, POOL = 9, 10, 11, 12, 13, 14, 15, 16, 17
MAPPING_SIZE, MAPPING_START, BLOCK, DECOMPRESS, LOCALITY = 18, 19, 20, 21, 22
KINDS: dict[int, type[Any]] = {TYPE: ctypes.c_uint, SYNC: ctypes.c_uint, ORDINAL: ctypes.c_int}
KINDS |= {IPC: ctypes.c_ubyte, MAPPED: ctypes.c_ubyte, RDMA: ctypes.c_ubyte, DECOMPRESS: ctypes.c_ubyte}
KINDS |= {ACCESS: ctypes.c_uint, LOCALITY: ctypes.c_int}


def query_attribute_value(driver: Driver, id_: int, address: int) -> int:
    return query_attribute(driver, id_, address, KINDS.get(id_, ctypes.c_uint64))


def query_result(driver: Driver, id_: int, address: int) -> int:
    return driver.result(
        "cuPointerGetAttribute", ctypes.byref((ctypes.c_uint64 * 2)()), id_, ctypes.c_uint64(address)
    )


def test_plain_memory_attributes_match_allocation(driver: Driver) -> None:
    memory = driver.allocate(256).value
    by_name = {
        id_: query_attribute_value(driver, id_, memory + 9)
        for id_ in range(1, 21)
        if id_ not in (TOKENS, HOST_POINTER)
    }
    assert by_name.pop(BUFFER) == by_name.pop(BLOCK) != 0
    assert by_name.pop(CONTEXT) == driver.handle("cuCtxGetCurrent").value
    zero = dict.fromkeys((SYNC, 8, ORDINAL, IPC, HANDLES, RDMA, POOL), 0)
    extent = {START: memory, LENGTH: 256, MAPPING_START: memory, MAPPING_SIZE: 256}
    assert by_name == {TYPE: 2, DEVICE_POINTER: memory + 9, MAPPED: 1, ACCESS: 3, **zero, **extent}
    assert query_result(driver, HOST_POINTER, memory) == INVALID_VALUE
    assert query_result(driver, TOKENS, memory) == NOT_SUPPORTED
    assert query_result(driver, 0, memory) == INVALID_VALUE
    assert query_result(driver, 999, memory) == INVALID_VALUE
    assert query_result(driver, TYPE, memory + 256) == INVALID_VALUE


def test_allocation_ids_are_unique(driver: Driver) -> None:
    first = driver.allocate(64)
    number = query_attribute_value(driver, BUFFER, first.value)
    driver("cuMemFree_v2", first)
    second = driver.allocate(64)
    assert second.value == first.value
    assert query_attribute_value(driver, BUFFER, second.value) != number


def test_mapping_and_reservation_attributes_differ(driver: Driver) -> None:
    arguments = (size(3 * GRANULE), size(0), ctypes.c_uint64(0), none())
    base = driver.number("cuMemAddressReserve", *arguments, kind=ctypes.c_uint64)
    memory, at = create(driver), base + GRANULE
    map_at(driver, at, memory)
    map_at(driver, at + GRANULE, memory)
    assert [query_attribute_value(driver, id_, at + 5) for id_ in (START, LENGTH)] == [base, 3 * GRANULE]
    assert [query_attribute_value(driver, id_, at + 5) for id_ in (MAPPING_START, MAPPING_SIZE)] == [
        at,
        GRANULE,
    ]
    assert [query_attribute_value(driver, id_, at) for id_ in (MAPPED, HANDLES, ACCESS, CONTEXT)] == [
        1,
        1,
        3,
        0,
    ]
    assert query_attribute_value(driver, BLOCK, at) == query_attribute_value(driver, BLOCK, at + GRANULE)
    assert query_attribute_value(driver, BUFFER, at) != query_attribute_value(driver, BUFFER, at + GRANULE)
    assert [query_attribute_value(driver, id_, base) for id_ in (MAPPED, START, LENGTH)] == [
        0,
        base,
        3 * GRANULE,
    ]
    assert query_result(driver, TYPE, base) == INVALID_VALUE
    start, length = ctypes.c_uint64(), ctypes.c_size_t()
    inside = ctypes.c_uint64(at + 77)
    driver("cuMemGetAddressRange_v2", ctypes.byref(start), ctypes.byref(length), inside)
    assert (start.value, length.value) == (at, GRANULE)
    assert driver.result("cuMemGetAddressRange_v2", None, None, ctypes.c_uint64(base)) == 500
    driver("cuMemUnmap", ctypes.c_uint64(at), size(2 * GRANULE))
    driver("cuMemAddressFree", ctypes.c_uint64(base), size(3 * GRANULE))


def test_pool_allocation_returns_pool_handle(driver: Driver) -> None:
    pool = make_pool(driver, 0)
    memory = allocate_from_pool(driver, pool, 64)
    assert query_attribute_value(driver, POOL, memory.value) == pool.value
    driver("cuMemFree_v2", memory)


def test_sync_memops_round_trips(driver: Driver) -> None:
    memory = driver.allocate(64)
    for value in (1, 0):
        driver("cuPointerSetAttribute", ctypes.byref(ctypes.c_uint(value)), SYNC, memory)
        assert query_attribute_value(driver, SYNC, memory.value) == value
    one = ctypes.byref(ctypes.c_uint(1))
    assert driver.result("cuPointerSetAttribute", one, TYPE, memory) == INVALID_VALUE
    assert driver.result("cuPointerSetAttribute", one, SYNC, ctypes.c_uint64(64)) == INVALID_VALUE


def test_unknown_pointer_has_null_attributes(driver: Driver) -> None:
    kinds, device = (ctypes.c_int * 3)(TYPE, ORDINAL, POOL), ctypes.c_int(5)
    type_, pool = ctypes.c_uint(5), ctypes.c_uint64(5)
    data = (ctypes.c_void_p * 3)(*(ctypes.addressof(value) for value in (type_, device, pool)))
    driver("cuPointerGetAttributes", 3, kinds, data, ctypes.c_uint64(ctypes.addressof(data)))
    assert (type_.value, device.value, pool.value) == (0, -2, 0)
    kinds[1] = 999
    assert driver.result("cuPointerGetAttributes", 3, kinds, data, driver.allocate(8)) == INVALID_VALUE
    kinds[1], data[1] = ORDINAL, None
    assert driver.result("cuPointerGetAttributes", 3, kinds, data, driver.allocate(8)) == INVALID_VALUE


def test_host_memory_flags_round_trip(driver: Driver) -> None:
    memory = driver.handle("cuMemHostAlloc", size(64), 4)
    inside = ctypes.c_void_p((memory.value or 0) + 32)
    assert driver.number("cuMemHostGetFlags", inside, kind=ctypes.c_uint) == 4 | 2
    flags = ctypes.c_uint()
    own = ctypes.create_string_buffer(64)
    driver("cuMemHostRegister_v2", own, size(64), 0)
    assert driver.result("cuMemHostGetFlags", ctypes.byref(flags), own) == INVALID_VALUE
    driver("cuMemHostUnregister", own)
    assert driver.result("cuMemHostGetFlags", None, memory) == INVALID_VALUE
    driver("cuMemFreeHost", memory)


@pytest.mark.parametrize(("flags", "result"), [(16, INVALID_VALUE), (4, NOT_SUPPORTED), (1 | 2, 0), (8, 0)])
def test_registration_flags_are_checked(driver: Driver, flags: int, result: int) -> None:
    own = ctypes.create_string_buffer(64)
    assert driver.result("cuMemHostRegister_v2", own, size(64), flags) == result
    if result == 0:
        middle = ctypes.c_void_p(ctypes.addressof(own) + 32)
        assert driver.result("cuMemHostRegister_v2", middle, size(64), flags) == REGISTERED
        driver("cuMemHostUnregister", own)


def test_unmapped_pages_are_not_registered(driver: Driver) -> None:
    assert driver.result("cuMemHostRegister_v2", ctypes.c_void_p(4096), size(64), 0) == INVALID_VALUE
    assert driver.result("cuMemHostRegister_v2", None, size(64), 0) == INVALID_VALUE


def test_pitched_allocation_aligns_rows(driver: Driver) -> None:
    address, pitch = ctypes.c_uint64(), ctypes.c_size_t()
    both = (ctypes.byref(address), ctypes.byref(pitch))
    driver("cuMemAllocPitch_v2", *both, size(100), size(7), 4)
    assert pitch.value >= 100
    assert pitch.value % 512 == 0
    assert query_attribute_value(driver, LENGTH, address.value) == 7 * pitch.value
    assert driver.result("cuMemAllocPitch_v2", *both, size(100), size(7), 3) == INVALID_VALUE
    assert driver.result("cuMemAllocPitch_v2", *both, size(100), size(0), 4) == INVALID_VALUE
    assert driver.result("cuMemAllocPitch_v2", None, both[1], size(100), size(7), 4) == INVALID_VALUE


def test_ipc_handles_are_refused_after_argument_checks(driver: Driver) -> None:
    handle, memory = ctypes.create_string_buffer(64), driver.allocate(64)
    inside = ctypes.c_uint64(memory.value + 8)
    assert driver.result("cuIpcGetMemHandle", handle, inside) == INVALID_VALUE
    assert driver.result("cuIpcGetMemHandle", None, memory) == INVALID_VALUE
    assert driver.result("cuIpcGetMemHandle", handle, memory) == NOT_SUPPORTED
    assert driver.result("cuIpcCloseMemHandle", memory) == INVALID_VALUE
    assert driver.number("cuDeviceGetAttribute", 125, 0) == 0, "as the device attribute tells"


def test_call_before_init_is_refused(sim_path: Path) -> None:
    """The check precedes checks for NULL arguments."""
    names = ["cuMemcpy2D_v2", "cuMemcpy3D_v2", "cuMemcpy3DPeer", "cuMemAllocPitch_v2", "cuArrayCreate_v2"]
    names += [
        "cuMemHostGetFlags",
        "cuMemHostGetDevicePointer_v2",
        "cuMemAllocFromPoolAsync",
        "cuIpcGetMemHandle",
    ]
    names += ["cuMemPoolExportPointer", "cuMemRangeGetAttribute", "cuMemPrefetchAsync_v2", "cuMemcpyPeer"]
    call = "getattr(driver, name)(*[ctypes.c_uint64(0)] * 9)"
    code = f"import ctypes; driver = ctypes.CDLL({str(sim_path)!r})\nprint(*[{call} for name in {names}])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["3"] * len(names)
