"""Values in memory that streams wait for and write; memory attached to streams. Codes are those of a GPU's driver."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import pytest

from .conftest import Driver

WAIT_32, WRITE_32, FLUSH, WAIT_64, WRITE_64, BARRIER = 1, 2, 3, 4, 5, 6
GEQ, EQ, AND, NOR = range(4)
UNKNOWN = 0x1234560


def call(driver: Driver, name: str, stream: Any, address: int, value: int = 0, flags: int = 0) -> int:
    return driver.result(name, stream, *(ctypes.c_uint64(n) for n in (address, value, flags)))


def operation(kind: int, address: int = 0, value: int = 0, flags: int = 0) -> bytes:
    if kind in (FLUSH, BARRIER):
        return struct.pack("<II", kind, flags).ljust(48, b"\0")
    return struct.pack("<IxxxxQQIxxxxQ", kind, address, value, flags, 0).ljust(48, b"\0")


def batch(driver: Driver, name: str, stream: Any, *operations: bytes, flags: int = 0) -> int:
    return driver.result(
        name, stream, len(operations), ctypes.create_string_buffer(b"".join(operations), 20000), flags
    )


@pytest.fixture
def memory(driver: Driver) -> int:
    address = driver.allocate(4096)
    driver("cuMemsetD8_v2", address, 0, ctypes.c_size_t(4096))
    driver("cuCtxSynchronize")
    return address.value


@pytest.mark.parametrize("suffix", ["_v2", "_v2_ptsz"])
@pytest.mark.parametrize("name", ["WriteValue32", "WriteValue64", "WaitValue32", "WaitValue64"])
def test_value_address_is_checked(driver: Driver, memory: int, name: str, suffix: str) -> None:
    stream, host = driver.handle("cuStreamCreate", 1), driver.handle("cuMemHostAlloc", ctypes.c_size_t(64), 0)
    ctypes.memset(host, 0, 64)
    managed = driver.handle("cuMemAllocManaged", ctypes.c_size_t(64), 1)
    page = ctypes.create_string_buffer(64)
    wide = name.endswith("64")
    pageable = (ctypes.addressof(page) + 15) & ~15
    places = {memory: 0, 0: 1, memory + 2: 1, memory + 4: int(wide), managed.value: 1, host.value: 0}
    for address, result in {**places, pageable: 1, UNKNOWN: 1}.items():
        assert call(driver, f"cuStream{name}{suffix}", stream, address or 0) == result
    assert call(driver, f"cuStream{name}{suffix}", None, memory) == 0
    driver("cuCtxSynchronize")


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize(
    ("kind", "flags", "result"),
    [
        *(("Write", flags, 1) for flags in (1, 3, 4, 8, 1 << 30, 1 << 31)),
        *(("Wait", flags, 0) for flags in (0, EQ, NOR)),
        *(("Wait", flags, 1) for flags in (4, 8, 1 << 31)),
        ("Wait", 1 << 30, 801),
    ],
)
def test_value_flags_are_checked(
    driver: Driver, memory: int, width: int, kind: str, flags: int, result: int
) -> None:
    stream = driver.handle("cuStreamCreate", 1)
    assert call(driver, f"cuStream{kind}Value{width}_v2", stream, memory, 0, flags) == result
    driver("cuStreamSynchronize", stream)


@pytest.mark.parametrize("suffix", ["", "_ptsz"])
def test_first_version_is_not_supported(driver: Driver, memory: int, suffix: str) -> None:
    stream = driver.handle("cuStreamCreate", 1)
    for name in ("WriteValue32", "WriteValue64", "WaitValue32", "WaitValue64"):
        assert call(driver, f"cuStream{name}{suffix}", stream, memory) == 801
    name = f"cuStreamBatchMemOp{suffix}"
    assert batch(driver, name, stream) == batch(driver, name, stream, operation(WRITE_32, memory)) == 801
    assert batch(driver, name, stream, *[operation(WRITE_32, memory)] * 256) == 1
    attribute = ctypes.c_int(-1)
    driver("cuDeviceGetAttribute", ctypes.byref(attribute), 92, 0)
    assert attribute.value == 0, "as the attribute tells"


@pytest.mark.parametrize(
    ("held", "flag", "wanted", "width"),
    [
        (5, GEQ, 4, 32),
        (1, GEQ, 0xFFFFFFF0, 32),
        (7, EQ, 7, 32),
        (6, AND, 2, 32),
        (0xF0, NOR, 0x0F, 32),
        (5 << 40, GEQ, 4 << 40, 64),
        (7 << 40, EQ, 7 << 40, 64),
        (6 << 40, AND, 2 << 40, 64),
    ],
)
def test_value_condition_releases_stream(
    driver: Driver, memory: int, held: int, flag: int, wanted: int, width: int
) -> None:
    stream, other = driver.handle("cuStreamCreate", 1), driver.handle("cuStreamCreate", 1)
    never = {GEQ: wanted - 1, EQ: held + 1, AND: 0, NOR: 0xFFFFFFFF if width == 32 else (1 << 64) - 1}[flag]
    call(driver, "cuStreamWriteValue64_v2", other, memory, never % (1 << 64))
    driver("cuStreamSynchronize", other)
    call(driver, f"cuStreamWaitValue{width}_v2", stream, memory, wanted, flag)
    assert driver.result("cuStreamQuery", stream) == 600
    call(driver, "cuStreamWriteValue64_v2", other, memory, held)
    driver("cuStreamSynchronize", stream)


@pytest.mark.parametrize("suffix", ["_v2", "_v2_ptsz"])
def test_value_batch_runs_in_order(driver: Driver, memory: int, suffix: str) -> None:
    name, stream = f"cuStreamBatchMemOp{suffix}", driver.handle("cuStreamCreate", 1)
    write = operation(WRITE_32, memory)
    assert driver.result(name, stream, 0, None, 0) == 0
    assert driver.result(name, stream, 1, None, 0) == 1
    assert batch(driver, name, stream, write, flags=1) == 1
    assert [batch(driver, name, stream, *[write] * n) for n in (0, 255, 256, 257)] == [0, 0, 1, 1]
    assert [batch(driver, name, stream, operation(kind, memory)) for kind in (0, 7)] == [1, 1]
    assert batch(driver, name, stream, operation(FLUSH)) == 801
    assert [batch(driver, name, stream, operation(BARRIER, flags=n)) for n in (0, 1, 2)] == [0, 0, 1]
    for bad in ((WRITE_32, memory + 2), (WRITE_64, memory + 4), (WRITE_32, UNKNOWN)):
        assert batch(driver, name, stream, operation(*bad)) == 1
    mixed = (
        operation(WRITE_32, memory, 5),
        operation(WAIT_32, memory, 5, EQ),
        operation(BARRIER),
        operation(WRITE_64, memory + 8, 1 << 40),
        operation(WAIT_64, memory + 8, 1 << 40, GEQ),
    )
    assert batch(driver, name, stream, *mixed) == 0
    driver("cuStreamSynchronize", stream)
    half = (operation(WRITE_32, memory, 9), operation(WRITE_32, UNKNOWN, 9))
    assert batch(driver, name, stream, *half) == 1
    driver("cuStreamSynchronize", stream)
    assert driver.read(ctypes.c_uint64(memory), 16) == struct.pack("<IIQ", 5, 0, 1 << 40), (
        "the refused batch wrote nothing"
    )


@pytest.mark.parametrize("suffix", ["", "_ptsz"])
def test_attachment_arguments_are_checked(driver: Driver, memory: int, suffix: str) -> None:
    stream, managed = (
        driver.handle("cuStreamCreate", 1),
        driver.number("cuMemAllocManaged", ctypes.c_size_t(8192), 1, kind=ctypes.c_uint64),
    )

    def attach(where: Any, address: int, length: int, flags: int) -> int:
        return driver.result(
            f"cuStreamAttachMemAsync{suffix}", where, ctypes.c_uint64(address), ctypes.c_size_t(length), flags
        )

    assert {n: attach(stream, managed, 0, n) for n in (0, 1, 2, 3, 4, 5, 8)} == {
        0: 1, 1: 0, 2: 0, 3: 1, 4: 0, 5: 1, 8: 1,
    }  # fmt: skip
    assert attach(stream, managed, 8192, 1) == 0
    assert attach(stream, managed, 4096, 1) == attach(stream, managed, 1 << 20, 1) == 1
    assert attach(stream, memory, 0, 1) == attach(stream, 0, 0, 1) == 1
    assert attach(ctypes.c_void_p(1), managed, 0, 4) == attach(ctypes.c_void_p(2), managed, 0, 4) == 0
    assert attach(None, managed, 0, 4) == (0 if suffix else 1)
    assert attach(None, managed, 0, 1) == 0
    driver("cuCtxSynchronize")
