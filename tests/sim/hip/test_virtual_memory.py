"""Reserved addresses and physical memory behind them."""

from __future__ import annotations

import ctypes
import os

import pytest

from .conftest import INVALID_VALUE, Hip
from .structures import ON_DEVICE, PINNED, READ_WRITE, Access, Properties

FILE_DESCRIPTOR = 1


def properties(handle: int = 0) -> Properties:
    return Properties(0, ON_DEVICE, handle, PINNED, 0, None)


@pytest.fixture
def size(hip: Hip) -> ctypes.c_size_t:
    granularity = ctypes.c_size_t()
    hip("hipMemGetAllocationGranularity", ctypes.byref(granularity), ctypes.byref(properties()), 0)
    assert granularity.value > 0
    return granularity


def reserve(hip: Hip, size: ctypes.c_size_t) -> ctypes.c_void_p:
    return hip.handle("hipMemAddressReserve", size, ctypes.c_size_t(0), None, ctypes.c_ulonglong(0))


def create(hip: Hip, size: ctypes.c_size_t, handle: int = 0) -> ctypes.c_void_p:
    return hip.handle("hipMemCreate", size, ctypes.byref(properties(handle)), ctypes.c_ulonglong(0))


def map_at(hip: Hip, address: ctypes.c_void_p, size: ctypes.c_size_t, memory: ctypes.c_void_p) -> None:
    hip("hipMemMap", address, size, ctypes.c_size_t(0), memory, ctypes.c_ulonglong(0))
    hip("hipMemSetAccess", address, size, ctypes.byref(Access(ON_DEVICE, READ_WRITE)), ctypes.c_size_t(1))


def unmap(hip: Hip, address: ctypes.c_void_p, size: ctypes.c_size_t) -> None:
    hip("hipMemUnmap", address, size)
    hip("hipMemAddressFree", address, size)


def test_mapped_memory_is_visible_at_each_address(hip: Hip, size: ctypes.c_size_t) -> None:
    memory, places = create(hip, size), [reserve(hip, size) for _ in range(2)]
    for place in places:
        map_at(hip, place, size, memory)
    hip("hipMemsetD32", places[0], 21, ctypes.c_size_t(1))
    assert hip.words(places[1], 1) == [21]
    hip("hipMemRelease", memory)
    for place in places:
        unmap(hip, place, size)


def test_mapping_queries_return_handle_and_access(hip: Hip, size: ctypes.c_size_t) -> None:
    memory, place, flags = create(hip, size), reserve(hip, size), ctypes.c_ulonglong()
    map_at(hip, place, size, memory)
    hip("hipMemGetAccess", ctypes.byref(flags), ctypes.byref(ON_DEVICE), place)
    assert flags.value == READ_WRITE
    retained, result = hip.handle("hipMemRetainAllocationHandle", place), Properties()
    hip("hipMemGetAllocationPropertiesFromHandle", ctypes.byref(result), retained)
    assert (result.type, result.location.type, result.location.id, result.handle) == (PINNED, 1, 0, 0)
    hip("hipMemRelease", retained)
    hip("hipMemRelease", memory)
    unmap(hip, place, size)


def test_memory_handle_exports_as_a_file_descriptor(hip: Hip, size: ctypes.c_size_t) -> None:
    memory, descriptor = create(hip, size, FILE_DESCRIPTOR), ctypes.c_int(-1)
    hip(
        "hipMemExportToShareableHandle",
        ctypes.byref(descriptor),
        memory,
        FILE_DESCRIPTOR,
        ctypes.c_ulonglong(0),
    )
    again = hip.handle("hipMemImportFromShareableHandle", ctypes.c_void_p(descriptor.value), FILE_DESCRIPTOR)
    places = [reserve(hip, size) for _ in range(2)]
    for place, handle in zip(places, (memory, again), strict=True):
        map_at(hip, place, size, handle)
        hip("hipMemRelease", handle)
    hip("hipMemsetD32", places[0], 22, ctypes.c_size_t(1))
    assert hip.words(places[1], 1) == [22]
    for place in places:
        unmap(hip, place, size)
    os.close(descriptor.value)


def test_unaligned_sizes_and_null_results_are_refused(hip: Hip, size: ctypes.c_size_t) -> None:
    none, zero = ctypes.c_void_p(), ctypes.c_ulonglong(0)
    assert hip.result("hipMemAddressReserve", None, size, ctypes.c_size_t(0), None, zero) == INVALID_VALUE
    assert (
        hip.result("hipMemCreate", ctypes.byref(none), ctypes.c_size_t(5), ctypes.byref(properties()), zero)
        == INVALID_VALUE
    )
    assert hip.result("hipMemCreate", ctypes.byref(none), size, None, zero) == INVALID_VALUE
