"""Memory in a stream's order, and pools."""

from __future__ import annotations

import ctypes
import os
from typing import Any

from .conftest import INVALID_VALUE, Hip
from .structures import ON_DEVICE, PINNED, READ_WRITE, Access, PoolProperties

THRESHOLD, USED_NOW, USED_HIGH = 4, 7, 8
FILE_DESCRIPTOR = 1


def test_pool_memory_is_allocated_and_freed_in_stream_order(hip: Hip, stream: Any, store: Any) -> None:
    memory = hip.handle("hipMallocAsync", ctypes.c_size_t(64), stream)
    back = (ctypes.c_uint32 * 1)()
    assert hip.launch(store, [memory, ctypes.c_uint32(17)], stream=stream) == 0
    hip("hipMemcpyAsync", back, memory, ctypes.c_size_t(4), 2, stream)
    hip("hipFreeAsync", memory, stream)
    hip("hipStreamSynchronize", stream)
    assert back[0] == 17


def test_pool_reports_used_bytes(hip: Hip, stream: Any) -> None:
    pool = hip.handle("hipMemPoolCreate", ctypes.byref(PoolProperties(PINNED, 0, ON_DEVICE)))
    threshold, used = ctypes.c_uint64(1 << 20), ctypes.c_uint64()
    hip("hipMemPoolSetAttribute", pool, THRESHOLD, ctypes.byref(threshold))
    hip("hipMemPoolGetAttribute", pool, THRESHOLD, ctypes.byref(used))
    assert used.value == 1 << 20
    memory = hip.handle("hipMallocFromPoolAsync", ctypes.c_size_t(4096), pool, stream)
    hip("hipMemPoolGetAttribute", pool, USED_NOW, ctypes.byref(used))
    assert used.value >= 4096
    hip("hipFreeAsync", memory, stream)
    hip("hipStreamSynchronize", stream)
    hip("hipMemPoolTrimTo", pool, ctypes.c_size_t(0))
    hip("hipMemPoolGetAttribute", pool, USED_NOW, ctypes.byref(used))
    assert used.value == 0
    hip("hipMemPoolGetAttribute", pool, USED_HIGH, ctypes.byref(used))
    assert used.value >= 4096
    hip("hipMemPoolDestroy", pool)


def test_pool_access_of_its_device_is_read_write(hip: Hip) -> None:
    pool, flags = hip.handle("hipDeviceGetDefaultMemPool", 0), ctypes.c_int()
    hip("hipMemPoolGetAccess", ctypes.byref(flags), pool, ctypes.byref(ON_DEVICE))
    assert flags.value == READ_WRITE
    hip("hipMemPoolSetAccess", pool, ctypes.byref(Access(ON_DEVICE, READ_WRITE)), ctypes.c_size_t(1))


def test_device_pool_can_be_replaced(hip: Hip) -> None:
    pool = hip.handle("hipMemPoolCreate", ctypes.byref(PoolProperties(PINNED, 0, ON_DEVICE)))
    usual = hip.handle("hipDeviceGetMemPool", 0)
    hip("hipDeviceSetMemPool", 0, pool)
    assert hip.handle("hipDeviceGetMemPool", 0).value == pool.value
    hip("hipDeviceSetMemPool", 0, usual)


def test_pool_exports_as_a_file_descriptor(hip: Hip, stream: Any) -> None:
    pool = hip.handle("hipMemPoolCreate", ctypes.byref(PoolProperties(PINNED, FILE_DESCRIPTOR, ON_DEVICE)))
    memory = hip.handle("hipMallocFromPoolAsync", ctypes.c_size_t(4), pool, stream)
    hip("hipMemsetD32Async", memory, 5, ctypes.c_size_t(1), stream)
    hip("hipStreamSynchronize", stream)
    descriptor, handle = ctypes.c_int(-1), ctypes.create_string_buffer(64)
    hip("hipMemPoolExportToShareableHandle", ctypes.byref(descriptor), pool, FILE_DESCRIPTOR, 0)
    hip("hipMemPoolExportPointer", handle, memory)
    other = hip.handle(
        "hipMemPoolImportFromShareableHandle", ctypes.c_void_p(descriptor.value), FILE_DESCRIPTOR, 0
    )
    there = hip.handle("hipMemPoolImportPointer", other, handle)
    assert (there.value == memory.value, hip.words(there, 1)) == (False, [5])
    os.close(descriptor.value)


def test_unknown_memory_is_not_freed(hip: Hip, stream: Any) -> None:
    assert hip.result("hipFreeAsync", ctypes.c_void_p(64), stream) == INVALID_VALUE
