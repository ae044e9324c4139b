"""Driver calls for timing in this process."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

from ..errors import BenchguardError
from ..shim.driver import discover
from ..toolchain.errors import ShimError
from ..toolchain.paths import SONAME

ATTRIBUTE_L2_BYTES = 38
EVENT_DEFAULT = 0
Handle = ctypes.c_void_p
Address = ctypes.c_uint64


class CudaError(BenchguardError):
    """A call of the CUDA driver failed."""


class Cuda:
    """The driver of this process, in the current context or else the primary context of device 0."""

    def __init__(self) -> None:
        self._library = _driver()
        self.call("cuInit", 0)
        context = Handle()
        self.call("cuCtxGetCurrent", ctypes.byref(context))
        if not context:
            self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
            self.call("cuCtxSetCurrent", context)
        self.device = ctypes.c_int()
        self.call("cuCtxGetDevice", ctypes.byref(self.device))

    def call(self, name: str, *arguments: Any) -> None:
        """Call a driver function. Raises CudaError if it fails."""
        result = getattr(self._library, name)(*arguments)
        if result != 0:
            text = ctypes.c_char_p()
            self._library.cuGetErrorString(result, ctypes.byref(text))
            words = (text.value or b"unknown error").decode()
            raise CudaError(
                f"{name} returned {result} ({words}); the timed function may have broken the context"
            )

    def attribute(self, number: int) -> int:
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), number, self.device)
        return value.value

    def allocate(self, size: int) -> Address:
        address = Address()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address

    def event(self) -> Handle:
        event = Handle()
        self.call("cuEventCreate", ctypes.byref(event), EVENT_DEFAULT)
        return event

    def functions(self, ptx: Path, *names: str) -> tuple[Handle, list[Handle]]:
        """Load a PTX module; return it and its kernels."""
        module, handles = Handle(), []
        self.call("cuModuleLoadData", ctypes.byref(module), ptx.read_bytes() + b"\0")
        for name in names:
            handles.append(Handle())
            self.call("cuModuleGetFunction", ctypes.byref(handles[-1]), module, name.encode())
        return module, handles

    def launch(self, function: Handle, blocks: int, threads: int, stream: Handle, *values: Any) -> None:
        """Launch a kernel on a one-dimensional grid. `values` are its arguments, as ctypes objects."""
        parameters = (Handle * len(values))(*(ctypes.addressof(each) for each in values))
        self.call("cuLaunchKernel", function, blocks, 1, 1, threads, 1, 1, 0, stream, parameters, None)


def _driver() -> ctypes.CDLL:
    try:
        return ctypes.CDLL(SONAME)  # the driver that this process has loaded, if any
    except OSError:
        try:
            return ctypes.CDLL(str(discover(api="cuda").path))
        except (OSError, ShimError) as error:
            raise CudaError(f"no CUDA driver was found: {error}") from error
