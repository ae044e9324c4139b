"""Access to memory: mappings, read-only memory, registered memory."""

from __future__ import annotations

import ctypes
import mmap
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import STORE, Driver
from .test_memory import GRANULE, Access, Location, size
from .test_memory_sharing import create, none, reserve

INVALID_VALUE, INVALID_DEVICE, ILLEGAL_ADDRESS = 1, 101, 700
NONE, READ, READ_WRITE = 0, 1, 3

LOAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry load(.param .u64 from, .param .u64 to)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    ld.global.u32 %r1, [%rd1];
    st.global.u32 [%rd2], %r1;
    ret;
}
.visible .entry add(.param .u64 to)
{
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [to];
    red.global.add.u32 [%rd1], 1;
    ret;
}
"""


def set_access(driver: Driver, where: ctypes.c_uint64, flags: int, place: Location | None = None) -> int:
    access = Access(place or Location(1, 0), flags)
    return driver.result("cuMemSetAccess", where, size(GRANULE), ctypes.byref(access), size(1))


@pytest.fixture
def mapping(driver: Driver) -> Iterator[ctypes.c_uint64]:
    memory, where = create(driver, 0), reserve(driver)
    driver("cuMemMap", where, size(GRANULE), size(0), memory, none())
    driver("cuMemRelease", memory)
    yield where
    driver.library.cuMemUnmap(where, size(GRANULE))
    driver("cuMemAddressFree", where, size(GRANULE))


def test_access_flags_round_trip(driver: Driver, mapping: ctypes.c_uint64) -> None:
    result = ctypes.c_ulonglong(9)
    inside = ctypes.c_uint64(mapping.value + 4097)
    for flags in (NONE, READ, READ_WRITE, NONE):
        assert set_access(driver, mapping, flags) == 0
        driver("cuMemGetAccess", ctypes.byref(result), ctypes.byref(Location(1, 0)), inside)
        assert result.value == flags
    other = ctypes.byref(Location(1, 1))
    assert driver.result("cuMemGetAccess", ctypes.byref(result), other, mapping) == INVALID_DEVICE
    assert set_access(driver, mapping, 2) == INVALID_VALUE
    assert set_access(driver, mapping, READ, Location(1, 1)) == INVALID_DEVICE
    assert set_access(driver, mapping, READ, Location(3, 0)) == INVALID_VALUE
    assert set_access(driver, ctypes.c_uint64(mapping.value + 512), READ) == INVALID_VALUE


def test_copy_to_read_only_memory_is_refused(driver: Driver, mapping: ctypes.c_uint64) -> None:
    assert set_access(driver, mapping, READ_WRITE) == 0
    driver.write(mapping, b"constant")
    assert set_access(driver, mapping, READ) == 0
    assert driver.read(mapping, 8) == b"constant"
    other = driver.allocate(16)
    driver("cuMemcpyDtoD_v2", other, mapping, size(8))
    assert driver.result("cuMemcpyHtoD_v2", mapping, b"x", size(1)) == INVALID_VALUE
    assert driver.result("cuMemcpyDtoD_v2", mapping, other, size(1)) == INVALID_VALUE
    assert driver.result("cuMemcpy", mapping, other, size(1)) == INVALID_VALUE
    assert driver.result("cuMemsetD8_v2", mapping, 0, size(1)) == INVALID_VALUE
    assert driver.read(mapping, 8) == b"constant"
    assert set_access(driver, mapping, NONE) == 0
    buffer = ctypes.create_string_buffer(8)
    assert driver.result("cuMemcpyDtoH_v2", buffer, mapping, size(8)) == INVALID_VALUE


def test_kernel_reads_read_only_memory(driver: Driver, mapping: ctypes.c_uint64) -> None:
    assert set_access(driver, mapping, READ_WRITE) == 0
    driver.write(mapping, b"four")
    assert set_access(driver, mapping, READ) == 0
    other = driver.allocate(4)
    assert driver.launch(driver.function(LOAD, "load"), [mapping, other]) == 0
    assert driver.read(other, 4) == b"four"


@pytest.mark.parametrize(("text", "name"), [(STORE, "store"), (LOAD, "add"), (LOAD, "load")])
def test_kernel_write_to_read_only_memory_faults(
    driver: Driver, mapping: ctypes.c_uint64, text: str, name: str
) -> None:
    assert set_access(driver, mapping, READ) == 0
    arguments = {"store": [mapping, ctypes.c_uint32(1)], "add": [mapping], "load": [mapping, mapping]}
    assert driver.launch(driver.function(text, name), arguments[name]) == 0
    assert driver.result("cuCtxSynchronize") == ILLEGAL_ADDRESS


def test_queued_copy_after_access_removal_faults(driver: Driver, mapping: ctypes.c_uint64) -> None:
    assert set_access(driver, mapping, READ_WRITE) == 0
    stream, other = driver.handle("cuStreamCreate", 1), driver.allocate(16)

    gate = threading.Event()

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def hold(_: int | None) -> None:
        gate.wait()

    driver("cuLaunchHostFunc", stream, hold, None)
    driver("cuMemcpyDtoDAsync_v2", mapping, other, size(16), stream)
    assert set_access(driver, mapping, READ) == 0
    gate.set()
    assert driver.result("cuStreamSynchronize", stream) == ILLEGAL_ADDRESS


def test_registered_read_only_pages_refuse_writes(driver: Driver, tmp_path: Path) -> None:
    path = tmp_path / "constant"
    path.write_bytes(b"constant" * 512)
    library = ctypes.CDLL(None)
    library.mmap.restype = ctypes.c_void_p
    file = os.open(path, os.O_RDONLY)
    address = library.mmap(None, size(4096), mmap.PROT_READ, mmap.MAP_SHARED, file, ctypes.c_long(0))
    os.close(file)
    pages = ctypes.c_void_p(address)
    assert driver.result("cuMemHostRegister_v2", pages, size(4096), 0) == INVALID_VALUE
    driver("cuMemHostRegister_v2", pages, size(4096), 8)
    other, where = driver.allocate(4), ctypes.c_uint64(address)
    assert driver.launch(driver.function(LOAD, "load"), [where, other]) == 0
    assert driver.read(other, 4) == b"cons"
    assert driver.launch(driver.function(LOAD, "add"), [where]) == 0
    assert driver.result("cuCtxSynchronize") == ILLEGAL_ADDRESS
    library.munmap(pages, size(4096))
