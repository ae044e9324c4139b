"""Import memory by a descriptor, check it and write to it. Runs as another process.

importer.py DRIVER allocation|pool DESCRIPTOR [HEX]
"""

from __future__ import annotations

import ctypes
import sys

GRANULE = 2 << 20


class Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class Access(ctypes.Structure):
    _fields_ = (("location", Location), ("flags", ctypes.c_int))


def main(path: str, kind: str, descriptor: str, data: str = "") -> None:
    driver = ctypes.CDLL(path)
    context, handle, address = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
    calls = [driver.cuInit(0), driver.cuCtxCreate_v4(ctypes.byref(context), None, 0, 0)]
    number = ctypes.c_void_p(int(descriptor))
    none = ctypes.c_ulonglong(0)
    if kind == "allocation":
        size = ctypes.c_size_t(GRANULE)
        access = Access(Location(1, 0), 3)
        calls += [
            driver.cuMemImportFromShareableHandle(ctypes.byref(handle), number, 1),
            driver.cuMemAddressReserve(ctypes.byref(address), size, size, ctypes.c_uint64(0), none),
            driver.cuMemMap(address, size, ctypes.c_size_t(0), handle, none),
            driver.cuMemSetAccess(address, size, ctypes.byref(access), ctypes.c_size_t(1)),
        ]
    else:
        carried = ctypes.create_string_buffer(bytes.fromhex(data), 64)
        calls += [
            driver.cuMemPoolImportFromShareableHandle(ctypes.byref(handle), number, 1, none),
            driver.cuMemPoolImportPointer(ctypes.byref(address), handle, carried),
        ]
    buffer = ctypes.create_string_buffer(8)
    calls.append(driver.cuMemcpyDtoH_v2(buffer, address, ctypes.c_size_t(8)))
    calls.append(driver.cuMemcpyHtoD_v2(address, b"imported", ctypes.c_size_t(8)))
    if kind == "pool":
        refused = driver.cuMemAllocFromPoolAsync(ctypes.byref(address), ctypes.c_size_t(8), handle, None)
        calls += [int(refused == 0), driver.cuMemFree_v2(address) if refused == 0 else 0]
    print(buffer.raw.decode(), *calls)


if __name__ == "__main__":
    main(*sys.argv[1:])
