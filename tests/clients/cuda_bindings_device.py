"""Queries before any work, through cuda.bindings: devices, contexts, limits, names of errors."""

from __future__ import annotations

import sys

from cuda.bindings import driver
from driver_calls import ATTRIBUTE, begin, check, equal, refused

ERROR = driver.CUresult
SEARCH = driver.CUdriverProcAddressQueryResult


def device_queries(device) -> None:
    equal(check(driver.cuDeviceGetCount()) > 0, True, "a device")
    equal(len(check(driver.cuDeviceGetName(256, device)).rstrip(b"\0")) > 0, True, "name")
    equal(len(bytes(check(driver.cuDeviceGetUuid(device)).bytes)), 16, "bytes of the UUID")
    equal(check(driver.cuDeviceTotalMem(device)) >= 1 << 30, True, "memory")
    bus = check(driver.cuDeviceGetPCIBusId(32, device)).rstrip(b"\0")
    equal(int(check(driver.cuDeviceGetByPCIBusId(bus))), int(device), "device of the bus address")
    expected = {
        ATTRIBUTE.CU_DEVICE_ATTRIBUTE_WARP_SIZE: 32,
        ATTRIBUTE.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: 1024,
        ATTRIBUTE.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: 64,
        ATTRIBUTE.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: 2**31 - 1,
        ATTRIBUTE.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: 48 << 10,
        ATTRIBUTE.CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING: 1,
        ATTRIBUTE.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: 1,
        ATTRIBUTE.CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS: 1,
    }
    for attribute, value in expected.items():
        equal(check(driver.cuDeviceGetAttribute(attribute, device)), value, attribute.name)
    refused(driver.cuDeviceGet(99), ERROR.CUDA_ERROR_INVALID_DEVICE)
    refused(
        driver.cuDeviceGetAttribute(ATTRIBUTE.CU_DEVICE_ATTRIBUTE_WARP_SIZE, 99),
        ERROR.CUDA_ERROR_INVALID_DEVICE,
    )


def versions(context) -> None:
    version = check(driver.cuDriverGetVersion())
    equal(version >= 12000, True, "driver version")
    equal(check(driver.cuCtxGetApiVersion(context)) > 0, True, "version of the context")
    address, status = check(driver.cuGetProcAddress(b"cuMemAlloc", version, 0))
    equal((address != 0, status), (True, SEARCH.CU_GET_PROC_ADDRESS_SUCCESS), "cuMemAlloc by name")
    address, status = check(driver.cuGetProcAddress(b"cuNothingOfTheKind", version, 0))
    equal((address, status), (0, SEARCH.CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND), "an unknown name")


def contexts(device, primary) -> None:
    equal(check(driver.cuDevicePrimaryCtxGetState(device))[1], 1, "the primary context is active")
    parameters = driver.CUctxCreateParams()
    created = check(
        driver.cuCtxCreate(parameters, driver.CUctx_flags.CU_CTX_SCHED_BLOCKING_SYNC.value, device)
    )
    equal(int(check(driver.cuCtxGetCurrent())), int(created), "a created context is current")
    flags = check(driver.cuCtxGetFlags())
    equal(flags & 7, driver.CUctx_flags.CU_CTX_SCHED_BLOCKING_SYNC.value, "flags of the context")
    equal(int(check(driver.cuCtxGetDevice())), int(device), "device of the context")
    stack = check(driver.cuCtxGetLimit(driver.CUlimit.CU_LIMIT_STACK_SIZE))
    check(driver.cuCtxSetLimit(driver.CUlimit.CU_LIMIT_STACK_SIZE, 2 * stack))
    equal(check(driver.cuCtxGetLimit(driver.CUlimit.CU_LIMIT_STACK_SIZE)) >= 2 * stack, True, "stack limit")
    check(driver.cuCtxGetCacheConfig())
    lost = check(driver.cuMemAlloc(1024))
    equal(int(check(driver.cuCtxPopCurrent())), int(created), "the popped context")
    equal(int(check(driver.cuCtxGetCurrent())), int(primary), "the context below it")
    check(driver.cuCtxPushCurrent(created))
    check(driver.cuCtxDestroy(created))
    equal(int(check(driver.cuCtxGetCurrent())), int(primary), "the context below a destroyed one")
    refused(driver.cuMemFree(lost), ERROR.CUDA_ERROR_INVALID_VALUE)
    check(driver.cuCtxSetCurrent(driver.CUcontext(0)))
    refused(driver.cuMemAlloc(64), ERROR.CUDA_ERROR_INVALID_CONTEXT)
    check(driver.cuCtxSetCurrent(primary))


def errors() -> None:
    equal(
        check(driver.cuGetErrorName(ERROR.CUDA_ERROR_NOT_READY)), b"CUDA_ERROR_NOT_READY", "name of an error"
    )
    equal(
        check(driver.cuGetErrorString(ERROR.CUDA_ERROR_OUT_OF_MEMORY)), b"out of memory", "text of an error"
    )
    free, total = check(driver.cuMemGetInfo())
    equal(0 < free <= total, True, "free memory")
    refused(driver.cuMemAlloc(0), ERROR.CUDA_ERROR_INVALID_VALUE)
    refused(driver.cuMemAlloc(1 << 46), ERROR.CUDA_ERROR_OUT_OF_MEMORY)


def main() -> int:
    refused(driver.cuDeviceGetCount(), ERROR.CUDA_ERROR_NOT_INITIALIZED)
    device, context = begin()
    device_queries(device)
    versions(context)
    contexts(device, context)
    errors()
    check(driver.cuDevicePrimaryCtxRelease(device))
    return 0


if __name__ == "__main__":
    sys.exit(main())
