"""A CUDA driver through ctypes: the CPU driver or NVIDIA's."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SIM = ROOT / "benchguard" / "native" / "sim" / "libcuda.so.1"
JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES = 5, 6
LOG_BYTES = 4096


CU_LIMIT_STACK_SIZE, STACK_BYTES = 0, 32 << 10


class DriverError(Exception):
    """A call that did not return CUDA_SUCCESS. `detail` is the JIT compiler's log."""

    def __init__(self, call: str, code: int, name: str, detail: str = "") -> None:
        super().__init__(f"{call}: {name} ({code})" + (f": {detail}" if detail else ""))
        self.code = code


class Driver:
    """A driver, with the primary context of its first device current."""

    def __init__(self, path: Path | str | None = None) -> None:
        chosen = path or os.environ.get("CORPUS_DRIVER") or SIM
        self._library = ctypes.CDLL(str(chosen))
        self("cuInit", 0)
        device = self._number("cuDeviceGet", 0)
        name = ctypes.create_string_buffer(128)
        self("cuDeviceGetName", name, 128, device)
        self.device = name.value.decode()
        self.version = self._number("cuDriverGetVersion")
        self._device = device
        self._enter()

    def _enter(self) -> None:
        context = ctypes.c_void_p()
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), self._device)
        self("cuCtxSetCurrent", context)
        # Recursion in unoptimised code needs more than a GPU's default stack of 1 KiB per thread.
        self("cuCtxSetLimit", CU_LIMIT_STACK_SIZE, ctypes.c_size_t(STACK_BYTES))

    def __call__(self, call: str, *arguments: Any) -> None:
        code = int(getattr(self._library, call)(*arguments))
        if code != 0:
            raise DriverError(call, code, self._error_name(code))

    def _error_name(self, code: int) -> str:
        name = ctypes.c_char_p()
        self._library.cuGetErrorName(code, ctypes.byref(name))
        return (name.value or b"unknown error").decode()

    def _number(self, call: str, *arguments: Any) -> int:
        value = ctypes.c_int()
        self(call, ctypes.byref(value), *arguments)
        return value.value

    def allocate(self, data: bytes) -> ctypes.c_uint64:
        """Allocate device memory of exactly this size and copy the data to it."""
        address = ctypes.c_uint64()
        self("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(len(data)))
        self.write(address, data)
        return address

    def write(self, address: ctypes.c_uint64, data: bytes) -> None:
        self("cuMemcpyHtoD_v2", address, data, ctypes.c_size_t(len(data)))

    def read(self, address: ctypes.c_uint64, size: int) -> bytes:
        buffer = ctypes.create_string_buffer(size)
        self("cuMemcpyDtoH_v2", buffer, address, ctypes.c_size_t(size))
        return buffer.raw

    def free(self, address: ctypes.c_uint64) -> None:
        self("cuMemFree_v2", address)

    def synchronize(self) -> None:
        self("cuCtxSynchronize")

    def load(self, image: bytes) -> Module:
        handle = ctypes.c_void_p()
        log = ctypes.create_string_buffer(LOG_BYTES)
        options = (ctypes.c_int * 2)(JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), LOG_BYTES)
        code = int(self._library.cuModuleLoadDataEx(ctypes.byref(handle), image, 2, options, values))
        if code != 0:
            raise DriverError("cuModuleLoadDataEx", code, self._error_name(code), log.value.decode().strip())
        return Module(self, handle)


@dataclass(frozen=True)
class Module:
    driver: Driver
    handle: ctypes.c_void_p

    def global_address(self, name: str) -> ctypes.c_uint64:
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        self.driver(
            "cuModuleGetGlobal_v2", ctypes.byref(address), ctypes.byref(size), self.handle, name.encode()
        )
        return address

    def launch(
        self,
        kernel: str,
        grid: Sequence[int],
        block: Sequence[int],
        parameters: Sequence[bytes],
        shared: int = 0,
        cooperative: bool = False,
    ) -> None:
        """Launch a kernel on the null stream. Each parameter is given as bytes."""
        function = ctypes.c_void_p()
        self.driver("cuModuleGetFunction", ctypes.byref(function), self.handle, kernel.encode())
        buffers = [ctypes.create_string_buffer(each, len(each)) for each in parameters]
        pointers = (ctypes.c_void_p * max(1, len(buffers)))(*map(ctypes.addressof, buffers))
        shape = [*(*grid, 1, 1)[:3], *(*block, 1, 1)[:3]]
        if cooperative:
            self.driver("cuLaunchCooperativeKernel", function, *shape, shared, None, pointers)
        else:
            self.driver("cuLaunchKernel", function, *shape, shared, None, pointers, None)

    def unload(self) -> None:
        self.driver("cuModuleUnload", self.handle)
