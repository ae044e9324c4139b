"""Every kind of memory through cuda.bindings: plain, pitched, pinned, managed, pooled, mapped by hand."""

from __future__ import annotations

import sys

import numpy as np
from cuda.bindings import driver
from driver_calls import begin, check, compile_ptx, equal, from_device, launch, refused, to_device

SOURCE = """
extern "C" __global__ void increment(int *x, unsigned n)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] += 1;
}
"""
POINTER = driver.CUpointer_attribute
ERROR = driver.CUresult
MARGIN = 512 << 20
"""Bytes that a driver may keep for itself: an H200 keeps 126 MiB."""


def increment(kernel, stream, pointer, count: int) -> None:
    launch(kernel, 2, 64, stream, driver.CUdeviceptr(int(pointer)), np.uint32(count))
    check(driver.cuStreamSynchronize(stream))


def plain(kernel, stream) -> None:
    values = np.arange(1000, dtype=np.int32)
    pointer = to_device(values)
    base, size = check(driver.cuMemGetAddressRange(driver.CUdeviceptr(int(pointer) + 400)))
    equal((int(base), size), (int(pointer), values.nbytes), "address range")
    kind = check(driver.cuPointerGetAttribute(POINTER.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer))
    equal(int(kind), int(driver.CUmemorytype.CU_MEMORYTYPE_DEVICE), "memory type")
    increment(kernel, stream, pointer, values.size)
    equal(from_device(pointer, values.size, np.int32), values + 1, "plain memory")
    check(driver.cuMemsetD8(pointer, 0xAB, 10))
    check(driver.cuMemsetD16(driver.CUdeviceptr(int(pointer) + 10), 0x1234, 3))
    check(driver.cuMemsetD32(driver.CUdeviceptr(int(pointer) + 16), 0xDEADBEEF, 2))
    start = b"\xab" * 10 + b"\x34\x12" * 3 + b"\xef\xbe\xad\xde" * 2
    equal(from_device(pointer, 24, np.uint8).tobytes(), start, "set memory")
    copy = check(driver.cuMemAlloc(values.nbytes))
    check(driver.cuMemcpyDtoD(copy, pointer, values.nbytes))
    equal(from_device(copy, values.size, np.int32)[6:], values[6:] + 1, "copied memory")
    check(driver.cuMemFree(copy))
    check(driver.cuMemFree(pointer))
    refused(driver.cuMemFree(pointer), ERROR.CUDA_ERROR_INVALID_VALUE)


def pitched() -> None:
    rows, columns = 5, 30
    pointer, pitch = check(driver.cuMemAllocPitch(columns * 4, rows, 4))
    check(driver.cuMemsetD2D32(pointer, pitch, 7, columns, rows))
    values = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    copy = driver.CUDA_MEMCPY2D()
    copy.srcMemoryType = driver.CUmemorytype.CU_MEMORYTYPE_HOST
    copy.srcHost = values.ctypes.data
    copy.srcPitch = columns * 4
    copy.dstMemoryType = driver.CUmemorytype.CU_MEMORYTYPE_DEVICE
    copy.dstDevice = pointer
    copy.dstPitch = pitch
    copy.dstXInBytes, copy.dstY = 8, 1
    copy.WidthInBytes, copy.Height = 20 * 4, 3
    check(driver.cuMemcpy2D(copy))
    actual = from_device(pointer, (rows, pitch // 4), np.int32)[:, :columns]
    expected = np.full((rows, columns), 7, np.int32)
    expected[1:4, 2:22] = values[:3, :20]
    equal(actual, expected, "a window of pitched memory")
    check(driver.cuMemFree(pointer))


def pinned(kernel, stream) -> None:
    host = check(driver.cuMemHostAlloc(4096, driver.CU_MEMHOSTALLOC_DEVICEMAP))
    view = np.frombuffer((np.ctypeslib.ctypes.c_int32 * 1024).from_address(int(host)), np.int32)
    view[:] = 41
    mapped = check(driver.cuMemHostGetDevicePointer(host, 0))
    increment(kernel, stream, mapped, view.size)
    equal(view, np.full(1024, 42), "mapped pinned memory")
    equal(
        check(driver.cuMemHostGetFlags(host)) & driver.CU_MEMHOSTALLOC_DEVICEMAP, 2, "flags of pinned memory"
    )
    check(driver.cuMemFreeHost(host))
    array = np.zeros(5000, np.int32)
    check(driver.cuMemHostRegister(array.ctypes.data, array.nbytes, 0))
    refused(
        driver.cuMemHostRegister(array.ctypes.data, array.nbytes, 0),
        ERROR.CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
    )
    check(driver.cuMemHostUnregister(array.ctypes.data))
    refused(driver.cuMemHostUnregister(array.ctypes.data), ERROR.CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED)


def managed(kernel, stream) -> None:
    attach = driver.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL.value
    pointer = check(driver.cuMemAllocManaged(4000, attach))
    view = np.frombuffer((np.ctypeslib.ctypes.c_int32 * 1000).from_address(int(pointer)), np.int32)
    view[:] = np.arange(1000)
    increment(kernel, stream, pointer, 1000)
    equal(view, np.arange(1, 1001), "managed memory")
    is_managed = check(driver.cuPointerGetAttribute(POINTER.CU_POINTER_ATTRIBUTE_IS_MANAGED, pointer))
    equal(bool(is_managed), True, "managed attribute")
    check(driver.cuMemFree(pointer))


def pooled(device, kernel, stream) -> None:
    properties = driver.CUmemPoolProps()
    properties.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    properties.location.id = int(device)
    pool = check(driver.cuMemPoolCreate(properties))
    threshold = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
    check(driver.cuMemPoolSetAttribute(pool, threshold, driver.cuuint64_t(1 << 20)))
    equal(int(check(driver.cuMemPoolGetAttribute(pool, threshold))), 1 << 20, "release threshold")
    for pointer in (
        check(driver.cuMemAllocAsync(4000, stream)),
        check(driver.cuMemAllocFromPoolAsync(4000, pool, stream)),
    ):
        check(driver.cuMemsetD32Async(pointer, 9, 1000, stream))
        launch(kernel, 2, 64, stream, pointer, np.uint32(1000))
        result = np.zeros(1000, np.int32)
        check(driver.cuMemcpyDtoHAsync(result.ctypes.data, pointer, result.nbytes, stream))
        check(driver.cuMemFreeAsync(pointer, stream))
        check(driver.cuStreamSynchronize(stream))
        equal(result, np.full(1000, 10), "pooled memory")
    used = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_USED_MEM_CURRENT
    equal(int(check(driver.cuMemPoolGetAttribute(pool, used))), 0, "memory of the pool still in use")
    check(driver.cuMemPoolTrimTo(pool, 0))
    check(driver.cuMemPoolDestroy(pool))


def mapped_by_hand(device, kernel, stream) -> None:
    properties = driver.CUmemAllocationProp()
    properties.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    properties.location.id = int(device)
    minimum = driver.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
    size = check(driver.cuMemGetAllocationGranularity(properties, minimum))
    address = check(driver.cuMemAddressReserve(2 * size, 0, driver.CUdeviceptr(0), 0))
    handle = check(driver.cuMemCreate(size, properties, 0))
    access = driver.CUmemAccessDesc()
    access.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    access.location.id = int(device)
    access.flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    doubled = driver.CUdeviceptr(int(address) + size)
    for place in (address, doubled):
        check(driver.cuMemMap(place, size, 0, handle, 0))
        check(driver.cuMemSetAccess(place, size, [access], 1))
    check(driver.cuMemsetD32(address, 1, size // 4))
    check(driver.cuCtxSynchronize())  # no memset waits, nor does the stream for the default one
    increment(kernel, stream, doubled, size // 4)
    equal(from_device(address, 64, np.int32), np.full(64, 2), "memory mapped twice")
    for place in (address, doubled):
        check(driver.cuMemUnmap(place, size))
    check(driver.cuMemRelease(handle))
    check(driver.cuMemAddressFree(address, 2 * size))


def main() -> int:
    device, _ = begin()
    module = check(driver.cuModuleLoadData(compile_ptx(SOURCE)))
    kernel = check(driver.cuModuleGetFunction(module, b"increment"))
    stream = check(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING.value))
    free, total = check(driver.cuMemGetInfo())
    plain(kernel, stream)
    pitched()
    pinned(kernel, stream)
    managed(kernel, stream)
    pooled(device, kernel, stream)
    mapped_by_hand(device, kernel, stream)
    at_end, same_total = check(driver.cuMemGetInfo())
    equal((same_total, at_end > free - MARGIN), (total, True), "free memory at the end")
    check(driver.cuStreamDestroy(stream))
    check(driver.cuModuleUnload(module))
    check(driver.cuDevicePrimaryCtxRelease(device))
    return 0


if __name__ == "__main__":
    sys.exit(main())
