"""The driver API for the submissions of these tests, which know no framework."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

KERNELS = Path(__file__).with_name("kernels.ptx")


class Cuda:
    def __init__(self, driver: str) -> None:
        self.library = ctypes.CDLL(driver)
        context, module = ctypes.c_void_p(), ctypes.c_void_p()
        self.ask("cuInit", 0)
        self.ask("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.ask("cuCtxSetCurrent", context)
        self.ask("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(KERNELS.read_bytes()))
        self.module = module

    def ask(self, name: str, *arguments: Any) -> None:
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name} returned {status}")

    def allocate(self, size: int) -> int:
        address = ctypes.c_uint64()
        self.ask("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
        return address.value

    def stream(self) -> ctypes.c_void_p:
        """A stream that does not wait for the legacy default stream."""
        stream = ctypes.c_void_p()
        self.ask("cuStreamCreate", ctypes.byref(stream), 1)
        return stream

    def launch(self, name: str, *values: Any, n: int = 1, stream: Any = None) -> None:
        function = ctypes.c_void_p()
        self.ask("cuModuleGetFunction", ctypes.byref(function), self.module, name.encode())
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(each) for each in values))
        blocks = 1 if name == "idle" else -(-n // 256)
        shape = [ctypes.c_uint(each) for each in (blocks, 1, 1, 1 if name == "idle" else 256, 1, 1, 0)]
        self.ask("cuLaunchKernel", function, *shape, stream, pointers, None)

    def twice(self, y: int, x: int, n: int, stream: Any = None) -> None:
        self.launch("twice", ctypes.c_uint64(y), ctypes.c_uint64(x), ctypes.c_uint32(n), n=n, stream=stream)

    def plus(self, z: int, x: int, k: int, n: int, stream: Any = None) -> None:
        values = (ctypes.c_uint64(z), ctypes.c_uint64(x), ctypes.c_uint32(k), ctypes.c_uint32(n))
        self.launch("plus", *values, n=n, stream=stream)

    def idle(self, ns: int, stream: Any = None) -> None:
        self.launch("idle", ctypes.c_uint64(ns), stream=stream)

    def fill(self, address: int, value: int, size: int, stream: Any = None) -> None:
        self.ask(
            "cuMemsetD8Async", ctypes.c_uint64(address), ctypes.c_ubyte(value), ctypes.c_size_t(size), stream
        )

    def read(self, address: int, size: int) -> bytes:
        data = ctypes.create_string_buffer(max(size, 1))
        self.ask("cuMemcpyDtoH_v2", data, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return data.raw[:size]

    def write(self, address: int, data: bytes) -> None:
        self.ask("cuMemcpyHtoD_v2", ctypes.c_uint64(address), data, ctypes.c_size_t(len(data)))

    def synchronise(self) -> None:
        self.ask("cuCtxSynchronize")
