"""A memset of pinned or managed memory is done when the call returns, as the manual's page on synchronization says."""

from __future__ import annotations

import ctypes
import sys

import numpy as np
from cuda.bindings import driver
from driver_calls import begin, check, equal

BYTES = 64 << 20


def seen_by_host(address: int) -> np.ndarray:
    return np.frombuffer((ctypes.c_uint8 * BYTES).from_address(address), np.uint8)


def main() -> int:
    device, _ = begin()
    pinned = check(driver.cuMemHostAlloc(BYTES, driver.CU_MEMHOSTALLOC_DEVICEMAP))
    mapped = check(driver.cuMemHostGetDevicePointer(pinned, 0))
    managed = check(driver.cuMemAllocManaged(BYTES, driver.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL.value))
    for what, pointer, host in (("pinned", mapped, int(pinned)), ("managed", managed, int(managed))):
        view = seen_by_host(host)
        for value in range(1, 4):
            check(driver.cuMemsetD8(pointer, value, BYTES))
            equal((view[0], view[-1]), (value, value), f"the ends of {what} memory after a memset")
    check(driver.cuMemFree(managed))
    check(driver.cuMemFreeHost(pinned))
    check(driver.cuDevicePrimaryCtxRelease(device))
    return 0


if __name__ == "__main__":
    sys.exit(main())
