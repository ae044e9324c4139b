"""Directions of copies."""

from __future__ import annotations

import pytest

from tests.support.log_lines import Line, call, summary_of

DEVICE = call("cuMemAlloc_v2", 0, dptr=0x1000, bytesize=0x100)
PINNED = call("cuMemHostAlloc", 1, pp=0x5000, bytesize=0x100, Flags=0)
MANAGED = call("cuMemAllocManaged", 2, dptr=0x8000, bytesize=0x100, flags=1)
GLOBAL = call("cuModuleGetGlobal_v2", 3, dptr=0x9000, bytes=16, hmod=1, name=2)
REGISTERED = call("cuMemHostRegister_v2", 4, p=0xA000, bytesize=64, Flags=0)


def unified(dst: int, src: int) -> Line:
    return call("cuMemcpy", 10, dst=dst, src=src, ByteCount=8)


@pytest.mark.parametrize(
    ("copy", "direction"),
    [
        (call("cuMemcpyHtoD_v2", 10, dstDevice=1, srcHost=2, ByteCount=8), "host to device"),
        (
            call("cuMemcpyDtoHAsync_v2_ptsz", 10, dstHost=1, srcDevice=2, ByteCount=8, hStream=0),
            "device to host",
        ),
        (call("cuMemcpyAtoD_v2", 10, dstDevice=1, srcArray=2, srcOffset=0, ByteCount=8), "array to device"),
        (
            call("cuMemcpyPeer", 10, dstDevice=1, dstContext=2, srcDevice=3, srcContext=4, ByteCount=8),
            "device to device",
        ),
        (call("hipMemcpy", 10, dst=1, src=2, sizeBytes=8, kind=2), "device to host"),
        (unified(0x1000, 0x7FFF0000), "host to device"),
        (unified(0x7FFF0000, 0x10FF), "device to host"),
        (unified(0x1080, 0x1000), "device to device"),
        (unified(0x5000, 0x1000), "device to host"),
        (unified(0x8000, 0xA010), "host to managed"),
        (unified(0x9008, 0x8000), "managed to device"),
        (unified(0x1100, 0x1000), "device to host"),
        (call("cuMemcpy2D_v2", 10, pCopy=5), "not recorded"),
    ],
)
def test_direction_of_copy(copy: Line, direction: str) -> None:
    (row,) = summary_of(DEVICE, PINNED, MANAGED, GLOBAL, REGISTERED, copy).copies
    assert row.direction == direction
    assert (row.bytes, row.unsized) == ((0, 1) if "2D" in copy["call"] else (8, 0))


def test_freed_memory_is_the_devices_no_longer() -> None:
    (row,) = summary_of(DEVICE, call("cuMemFree_v2", 5, dptr=0x1000), unified(0x1000, 0x1000)).copies
    assert row.direction == "host to host"


def test_unknown_address_stays_unknown_where_memory_came_unseen() -> None:
    imported = call("cuIpcOpenMemHandle_v2", 5, pdptr=0x70000, Flags=1)
    (row,) = summary_of(DEVICE, imported, unified(0x1000, 0x70010)).copies
    assert row.direction == "unknown to device"


def test_rate_is_that_of_blocking_copies_alone() -> None:
    blocking = call("cuMemcpyHtoD_v2", 10, duration_ns=1000, dstDevice=1, srcHost=2, ByteCount=4000)
    started = call("cuMemcpyHtoDAsync_v2", 20, dstDevice=1, srcHost=2, ByteCount=8, hStream=0)
    failed = call("cuMemcpyHtoD_v2", 30, 1, dstDevice=1, srcHost=2, ByteCount=77)
    rows = {row.asynchronous: row for row in summary_of(blocking, started, failed).copies}
    assert rows[False].host_rate == 4e9 and rows[True].host_rate is None
    assert (rows[False].bytes, rows[False].copies, rows[False].failed) == (4000, 1, 1)
