"""Memory shared between processes: exported allocations and pools, and refusals."""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Driver
from .test_memory import GRANULE, Properties, map_at, size
from .test_memory import Location as MemoryLocation

INVALID_VALUE, INVALID_DEVICE, NOT_SUPPORTED = 1, 101, 801
POSIX, WIN32, FABRIC = 1, 2, 8
IMPORTER = Path(__file__).parent / "programs" / "importer.py"


class PoolProperties(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("handles", ctypes.c_int),
        ("location", MemoryLocation),
        ("win32", ctypes.c_void_p),
        ("limit", ctypes.c_size_t),
        ("usage", ctypes.c_ushort),
        ("reserved", ctypes.c_ubyte * 62),
    )


def none() -> ctypes.c_ulonglong:
    return ctypes.c_ulonglong(0)


def create(driver: Driver, handles: int = POSIX) -> ctypes.c_uint64:
    properties = Properties(type=1, handles=handles, location=MemoryLocation(1, 0))
    arguments = (size(GRANULE), ctypes.byref(properties), none())
    return ctypes.c_uint64(driver.number("cuMemCreate", *arguments, kind=ctypes.c_uint64))


def reserve(driver: Driver) -> ctypes.c_uint64:
    arguments = (size(GRANULE), size(0), ctypes.c_uint64(0), none())
    return ctypes.c_uint64(driver.number("cuMemAddressReserve", *arguments, kind=ctypes.c_uint64))


def import_elsewhere(sim_path: Path, kind: str, descriptor: int, data: bytes = b"") -> list[str]:
    command = [sys.executable, str(IMPORTER), str(sim_path), kind, str(descriptor), data.hex()]
    result = subprocess.run(command, pass_fds=[descriptor], capture_output=True, text=True, check=True)
    return result.stdout.split()


def test_exported_allocation_is_shared_with_process(driver: Driver, sim_path: Path) -> None:
    memory, where = create(driver), reserve(driver)
    descriptor = driver.number("cuMemExportToShareableHandle", memory, POSIX, none())
    map_at(driver, where.value, memory)
    driver.write(where, b"exported")
    output, *calls = import_elsewhere(sim_path, "allocation", descriptor)
    assert output == "exported"
    assert set(calls) == {"0"}
    assert driver.read(where, 8) == b"imported"
    os.close(descriptor)


def test_descriptor_from_socket_is_imported(driver: Driver) -> None:
    memory, first, second = create(driver), reserve(driver), reserve(driver)
    descriptor = driver.number("cuMemExportToShareableHandle", memory, POSIX, none())
    here, there = socket.socketpair()
    socket.send_fds(here, [b"."], [descriptor])
    os.close(descriptor)
    received = socket.recv_fds(there, 1, 1)[1][0]
    imported = ctypes.c_uint64(
        driver.number(
            "cuMemImportFromShareableHandle", ctypes.c_void_p(received), POSIX, kind=ctypes.c_uint64
        )
    )
    os.close(received)
    map_at(driver, first.value, memory)
    driver("cuMemRelease", memory)
    map_at(driver, second.value, imported)
    driver.write(first, b"one memory")
    assert driver.read(second, 10) == b"one memory"
    properties = Properties()
    driver("cuMemGetAllocationPropertiesFromHandle", ctypes.byref(properties), imported)
    assert (properties.type, properties.location.type, properties.location.id) == (1, 1, 0)
    driver("cuMemUnmap", first, size(GRANULE))
    assert driver.read(second, 10) == b"one memory"


def test_export_of_private_allocation_is_refused(driver: Driver) -> None:
    private, shared, descriptor = create(driver, 0), create(driver), ctypes.c_int(-7)

    def export(memory: ctypes.c_uint64, kind: int, flags: int = 0) -> int:
        arguments = (ctypes.byref(descriptor), memory, kind, ctypes.c_ulonglong(flags))
        return driver.result("cuMemExportToShareableHandle", *arguments)

    assert export(private, POSIX) == INVALID_VALUE
    assert export(shared, FABRIC) == INVALID_VALUE
    assert export(shared, POSIX, 1) == INVALID_VALUE
    assert export(ctypes.c_uint64(1), POSIX) == INVALID_VALUE
    assert descriptor.value == -7


@pytest.mark.parametrize(
    ("change", "result"),
    [
        ({"handles": FABRIC}, NOT_SUPPORTED),
        ({"handles": WIN32}, NOT_SUPPORTED),
        ({"handles": 16}, INVALID_VALUE),
        ({"type": 0}, INVALID_VALUE),
        ({"location": MemoryLocation(1, 1)}, INVALID_DEVICE),
        ({"location": MemoryLocation(2, 0), "handles": POSIX}, INVALID_VALUE),
        ({"location": MemoryLocation(4, 0)}, INVALID_VALUE),
        ({"win32": 1}, INVALID_VALUE),
    ],
)
def test_allocation_properties_are_checked(driver: Driver, change: dict[str, object], result: int) -> None:
    properties, handle = Properties(type=1, location=MemoryLocation(1, 0)), ctypes.c_uint64()
    for name, value in change.items():
        setattr(properties, name, value)
    arguments = (ctypes.byref(handle), size(GRANULE), ctypes.byref(properties), none())
    assert driver.result("cuMemCreate", *arguments) == result


def test_foreign_descriptor_is_refused(driver: Driver, tmp_path: Path) -> None:
    handle = ctypes.c_void_p()
    other = os.memfd_create("cuda allocation")  # the right name, but not sealed
    os.ftruncate(other, GRANULE)
    plain = os.open(tmp_path, os.O_RDONLY)
    for descriptor in (other, plain, 987654):
        arguments = (ctypes.byref(handle), ctypes.c_void_p(descriptor), POSIX)
        assert driver.result("cuMemImportFromShareableHandle", *arguments) == INVALID_VALUE
        assert driver.result("cuMemPoolImportFromShareableHandle", *arguments, none()) == INVALID_VALUE
    os.close(other)
    os.close(plain)


def make_pool(driver: Driver, handles: int, limit: int = 0) -> ctypes.c_void_p:
    properties = PoolProperties(type=1, handles=handles, location=MemoryLocation(1, 0), limit=limit)
    return driver.handle("cuMemPoolCreate", ctypes.byref(properties))


def allocate_from_pool(driver: Driver, pool: ctypes.c_void_p, bytes_: int) -> ctypes.c_uint64:
    return ctypes.c_uint64(
        driver.number("cuMemAllocFromPoolAsync", size(bytes_), pool, None, kind=ctypes.c_uint64)
    )


def test_exported_pool_allocation_is_shared_with_process(driver: Driver, sim_path: Path) -> None:
    pool = make_pool(driver, POSIX)
    driver("cuMemFreeAsync", allocate_from_pool(driver, pool, 5000), None)
    first, memory = allocate_from_pool(driver, pool, 100), allocate_from_pool(driver, pool, 100)
    driver.write(first, b"an other")
    driver.write(memory, b"exported")
    descriptor = driver.number("cuMemPoolExportToShareableHandle", pool, POSIX, none())
    data = ctypes.create_string_buffer(64)
    driver("cuMemPoolExportPointer", data, memory)
    output, *calls = import_elsewhere(sim_path, "pool", descriptor, data.raw)
    assert output == "exported"
    assert calls[:6] == ["0"] * 6
    assert calls[6:] == ["0", "0"], "an imported pool cannot allocate"
    assert driver.read(memory, 8) == b"imported"
    assert driver.read(first, 8) == b"an other"
    os.close(descriptor)
    for address in (first, memory):
        driver("cuMemFreeAsync", address, None)
    driver("cuMemPoolDestroy", pool)


def test_pool_pointer_imports_once_from_its_pool(driver: Driver) -> None:
    pool, stranger = make_pool(driver, POSIX), make_pool(driver, POSIX)
    memory = allocate_from_pool(driver, pool, 64)
    data, address = ctypes.create_string_buffer(64), ctypes.c_uint64()
    driver("cuMemPoolExportPointer", data, memory)
    imported = []
    for exported in (pool, stranger):
        descriptor = driver.number("cuMemPoolExportToShareableHandle", exported, POSIX, none())
        number = ctypes.c_void_p(descriptor)
        imported.append(driver.handle("cuMemPoolImportFromShareableHandle", number, POSIX, none()))
        os.close(descriptor)
    assert driver.result("cuMemPoolImportPointer", ctypes.byref(address), imported[1], data) == INVALID_VALUE
    driver("cuMemPoolImportPointer", ctypes.byref(address), imported[0], data)
    driver.write(memory, b"same")
    assert driver.read(address, 4) == b"same"
    assert driver.result("cuMemPoolImportPointer", ctypes.byref(address), imported[0], data) == INVALID_VALUE
    data[30] = 0xFF  # an offset far outside
    assert driver.result("cuMemPoolImportPointer", ctypes.byref(address), imported[0], data) == INVALID_VALUE
    assert driver.result("cuDeviceSetMemPool", 0, imported[0]) == INVALID_VALUE
    descriptor = ctypes.c_int()
    arguments = (ctypes.byref(descriptor), imported[0], POSIX, none())
    assert driver.result("cuMemPoolExportToShareableHandle", *arguments) == INVALID_VALUE
    driver("cuMemFree_v2", address)
    driver("cuMemFree_v2", memory)


def test_export_of_private_pool_is_refused(driver: Driver) -> None:
    pool, out = make_pool(driver, 0), ctypes.create_string_buffer(64)
    memory = allocate_from_pool(driver, pool, 64)
    assert driver.result("cuMemPoolExportToShareableHandle", out, pool, POSIX, none()) == INVALID_VALUE
    assert driver.result("cuMemPoolExportPointer", out, memory) == INVALID_VALUE
    assert driver.result("cuMemPoolExportPointer", out, driver.allocate(64)) == INVALID_VALUE
    driver("cuMemFree_v2", memory)


@pytest.mark.parametrize("handles", [0, POSIX])
def test_pool_keeps_memory_up_to_threshold(driver: Driver, handles: int) -> None:
    pool, free = make_pool(driver, handles, 1 << 20), ctypes.c_size_t()
    driver("cuMemGetInfo_v2", ctypes.byref(free), None)
    before = free.value

    def amounts() -> list[int]:
        value = ctypes.c_uint64()
        results = []
        for attribute in (5, 6, 7, 8):  # reserved, its peak, used, its peak
            driver("cuMemPoolGetAttribute", pool, attribute, ctypes.byref(value))
            results.append(value.value)
        driver("cuMemGetInfo_v2", ctypes.byref(free), None)
        return [*results, before - free.value]

    driver("cuMemPoolSetAttribute", pool, 4, ctypes.byref(ctypes.c_uint64(1 << 40)))
    first, second = allocate_from_pool(driver, pool, 1024), allocate_from_pool(driver, pool, 2048)
    address = ctypes.c_uint64()
    arguments = (ctypes.byref(address), size(1 << 20), pool, None)
    assert driver.result("cuMemAllocFromPoolAsync", *arguments) == 2, "beyond the pool's limit"
    driver("cuMemFree_v2", first)
    driver("cuMemFree_v2", second)
    assert amounts() == [3072, 3072, 0, 3072, 3072]
    first = allocate_from_pool(driver, pool, 512)
    assert amounts() == [3072, 3072, 512, 3072, 3072]
    driver("cuMemPoolTrimTo", pool, size(1024))
    assert amounts() == [1024, 3072, 512, 3072, 1024]
    driver("cuMemPoolTrimTo", pool, size(0))
    driver("cuMemPoolSetAttribute", pool, 6, ctypes.byref(ctypes.c_uint64(0)))
    assert amounts() == [512, 512, 512, 3072, 512]
    assert driver.result("cuMemPoolSetAttribute", pool, 6, ctypes.byref(ctypes.c_uint64(1))) == INVALID_VALUE
    driver("cuMemFree_v2", first)
    driver("cuMemPoolDestroy", pool)
    driver("cuMemGetInfo_v2", ctypes.byref(free), None)
    assert free.value == before


def test_pool_location_is_checked(driver: Driver) -> None:
    if not hasattr(driver.library, "cuMemGetMemPool"):
        pytest.skip("built with a header before CUDA 13.0")
    device, host, other = MemoryLocation(1, 0), MemoryLocation(2, 0), MemoryLocation(1, 1)
    usual = driver.handle("cuMemGetDefaultMemPool", ctypes.byref(device), 1)
    assert usual.value == driver.handle("cuDeviceGetDefaultMemPool", 0).value
    pool, out = make_pool(driver, 0), ctypes.c_void_p()
    driver("cuMemSetMemPool", ctypes.byref(device), 1, pool)
    assert driver.handle("cuMemGetMemPool", ctypes.byref(device), 1).value == pool.value
    assert driver.handle("cuDeviceGetMemPool", 0).value == pool.value
    driver("cuMemSetMemPool", ctypes.byref(device), 1, usual)
    driver("cuMemPoolDestroy", pool)
    assert driver.result("cuMemSetMemPool", ctypes.byref(device), 1, pool) == INVALID_VALUE
    for location, kind in ((host, 1), (device, 2)):  # pinned memory of the host, managed memory
        other_pool = driver.handle("cuMemGetMemPool", ctypes.byref(location), kind)
        assert other_pool.value not in {usual.value, None}
        memory = driver.handle("cuMemAllocFromPoolAsync", size(64), other_pool, None)
        ctypes.memset(memory.value, 7, 64)  # the host can access it too
        assert driver.result("cuMemFreeHost", memory) == INVALID_VALUE
        driver("cuMemFreeAsync", memory, None)
    assert driver.result("cuMemGetMemPool", ctypes.byref(out), ctypes.byref(other), 1) == INVALID_DEVICE
    assert driver.result("cuMemGetMemPool", ctypes.byref(out), ctypes.byref(device), 0) == INVALID_VALUE
