"""Loads each image of the command line with hipModuleLoadData, and launches its kernel `store` on one thread."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

hip = ctypes.CDLL("libamdhip64.so.5")
memory, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
assert hip.hipMalloc(ctypes.byref(memory), ctypes.c_size_t(64)) == 0
for number, path in enumerate(sys.argv[1:], 1):
    assert hip.hipModuleLoadData(ctypes.byref(module), Path(path).read_bytes()) == 0, path
    assert hip.hipModuleGetFunction(ctypes.byref(function), module, b"store") == 0
    values = (
        ctypes.c_uint8(9),
        ctypes.c_uint64(memory.value or 0),
        (ctypes.c_uint8 * 24)(),
        ctypes.c_uint32(number),
    )
    addresses = (ctypes.c_void_p * 4)(*map(ctypes.addressof, values))
    assert hip.hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, addresses, None) == 0
    found = ctypes.c_uint32()
    assert hip.hipMemcpy(ctypes.byref(found), memory, ctypes.c_size_t(4), 2) == 0
    assert found.value == number
