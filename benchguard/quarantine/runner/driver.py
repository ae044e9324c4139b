"""The functions of the CUDA driver that the runner needs. The loader finds the shim as the driver.

Called through ctypes, so that a submission in CUDA C++ or PTX needs no framework.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from .reporting import SubmissionError, last_of

LIBRARY = "libcuda.so.1"
LOG_BYTES = 1 << 14
MAJOR, MINOR = 75, 76
"""CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR."""

_JIT_ERROR_LOG, _JIT_ERROR_LOG_BYTES = 5, 6
_DYNAMIC_SHARED_BYTES = 8
"""CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES."""

_SHARED_WITHOUT_ASKING = 48 << 10
_SUCCESS, _INVALID_VALUE, _NOT_FOUND = 0, 1, 500
_PARAMETERS_MAX = 4096


class Driver:
    """A device's primary context, current in the calling thread. All methods raise SubmissionError.

    With `context=False` the driver is initialised only, which is enough for `arch`, and make_context() does the rest.
    """

    def __init__(self, library: str = LIBRARY, device: int = 0, *, context: bool = True) -> None:
        try:
            self._library = ctypes.CDLL(library)
        except OSError as error:
            raise SubmissionError(f"the CUDA driver cannot be loaded in the quarantine: {error}") from error
        self._device = ctypes.c_int()
        self._context = ctypes.c_void_p()
        self._call("cuInit", 0)
        self._call("cuDeviceGet", ctypes.byref(self._device), device)
        if context:
            self.make_context()

    def make_context(self) -> None:
        """Make the context, and make it current in the calling thread."""
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), self._device)
        self.make_current()

    def make_current(self) -> None:
        """Make the context current again: the submission may have changed it."""
        self._call("cuCtxSetCurrent", self._context)

    @property
    def arch(self) -> str:
        """The device's architecture as nvcc names it, with architecture-specific features: "sm_80", "sm_90a"."""
        major, minor = self._attribute(MAJOR), self._attribute(MINOR)
        return f"sm_{major}{minor}{'a' if major >= 9 else ''}"

    def allocate(self, size: int) -> int:
        address = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
        return address.value

    def free(self, address: int) -> None:
        self._call("cuMemFree_v2", ctypes.c_uint64(address))

    def write(self, address: int, source: int, size: int) -> None:
        """Copy from host memory at `source`."""
        if size:
            self._call(
                "cuMemcpyHtoD_v2", ctypes.c_uint64(address), ctypes.c_void_p(source), ctypes.c_size_t(size)
            )

    def fill(self, address: int, value: int, size: int) -> None:
        if size:
            self._call(
                "cuMemsetD8_v2", ctypes.c_uint64(address), ctypes.c_ubyte(value), ctypes.c_size_t(size)
            )

    def synchronise(self) -> None:
        """Wait for all work of the context. Raises SubmissionError if any of it failed."""
        self._call("cuCtxSynchronize")

    def load(self, image: bytes, name: str) -> ctypes.c_void_p:
        """Load a module from PTX or machine code."""
        module, log = ctypes.c_void_p(), ctypes.create_string_buffer(LOG_BYTES)
        options = (ctypes.c_int * 2)(_JIT_ERROR_LOG, _JIT_ERROR_LOG_BYTES)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), LOG_BYTES)
        status = self._library.cuModuleLoadDataEx(
            ctypes.byref(module), ctypes.c_char_p(image), 2, options, values
        )
        if status != _SUCCESS:
            log_text = log.value.decode(errors="replace").strip()
            first = next(
                (line for line in log_text.splitlines() if "error" in line), log_text.partition("\n")[0]
            )
            text = f"the driver cannot load {name}: {self._name(status)}"
            raise SubmissionError(f"{text}: {first}" if first else text, last_of(log_text))
        return module

    def function(self, module: ctypes.c_void_p, name: str) -> ctypes.c_void_p:
        function = ctypes.c_void_p()
        self._call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return function

    def parameter_bytes(self, function: ctypes.c_void_p) -> list[int] | None:
        """The size of each parameter; None with drivers older than CUDA 12.4, which lack cuFuncGetParamInfo."""
        ask = getattr(self._library, "cuFuncGetParamInfo", None)
        if ask is None:
            return None
        sizes: list[int] = []
        while len(sizes) < _PARAMETERS_MAX:
            offset, size = ctypes.c_size_t(), ctypes.c_size_t()
            status = ask(function, ctypes.c_size_t(len(sizes)), ctypes.byref(offset), ctypes.byref(size))
            if status == _INVALID_VALUE:
                return sizes
            if status != _SUCCESS:
                return None
            sizes.append(size.value)
        return None

    def allow_shared(self, function: ctypes.c_void_p, size: int) -> None:
        """Raise the kernel's limit of dynamic shared memory, if `size` exceeds the default of 48 KiB."""
        if size > _SHARED_WITHOUT_ASKING:
            self._call("cuFuncSetAttribute", function, _DYNAMIC_SHARED_BYTES, ctypes.c_int(size))

    def launch(
        self,
        function: ctypes.c_void_p,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared: int,
        values: Sequence[Any],
    ) -> None:
        """Launch on the legacy default stream. `values` are ctypes objects, one per parameter."""
        pointers = (ctypes.c_void_p * max(len(values), 1))(*(ctypes.addressof(each) for each in values))
        shape = [ctypes.c_uint(extent) for extent in (*grid, *block, shared)]
        self._call("cuLaunchKernel", function, *shape, None, pointers, None)

    def _attribute(self, number: int) -> int:
        value = ctypes.c_int()
        self._call("cuDeviceGetAttribute", ctypes.byref(value), number, self._device)
        return value.value

    def _call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._library, name)(*arguments)
        if status != _SUCCESS:
            raise SubmissionError(f"{name} returned {self._name(status)}")

    def _name(self, status: int) -> str:
        """For example: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)."""
        name, text = ctypes.c_char_p(), ctypes.c_char_p()
        self._library.cuGetErrorName(status, ctypes.byref(name))
        self._library.cuGetErrorString(status, ctypes.byref(text))
        if not name.value or not text.value:
            return f"error {status}"
        return f"{name.value.decode(errors='replace')} ({text.value.decode(errors='replace')})"
