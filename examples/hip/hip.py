"""The few HIP functions that the example calls, from the library that this process finds, by ctypes.

A library that is called by ctypes is called as a C program calls it: neutrino-bench sees no difference.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

LIBRARIES = ("libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5")
COMPILERS = ("libhiprtc.so", "libhiprtc.so.7", "libhiprtc.so.6")
"""Libraries with hiprtc: its own from ROCm 6 on, the runtime before."""

TO_DEVICE, TO_HOST = 1, 2  # hipMemcpyKind


class HipError(Exception):
    """A HIP call failed. The message has HIP's error name."""


def _open(names: Sequence[str]) -> ctypes.CDLL | None:
    for name in names:
        try:
            return ctypes.CDLL(name, mode=os.RTLD_LOCAL | os.RTLD_NOW)
        except OSError:
            continue
    return None


class Hip:
    """Device 0 and the default stream. Methods raise HipError."""

    def __init__(self) -> None:
        library = _open(LIBRARIES)
        if library is None:
            raise HipError(
                f"no {LIBRARIES[0]} here; install ROCm, or run this by `neutrino-bench --driver hip-sim --`"
            )
        self._library = library
        self._library.hipGetErrorName.restype = ctypes.c_char_p
        self._compiler = library if hasattr(library, "hiprtcCreateProgram") else _open(COMPILERS)
        self.call("hipInit", 0)

    def call(self, name: str, *arguments: object) -> None:
        result = getattr(self._library, name)(*arguments)
        if result != 0:
            raise HipError(f"{name}: {self._library.hipGetErrorName(result).decode()} ({result})")

    def allocate(self, size: int) -> int:
        address = ctypes.c_void_p()
        self.call("hipMalloc", ctypes.byref(address), ctypes.c_size_t(size))
        return address.value or 0

    def upload(self, address: int, array: npt.NDArray[np.uint8]) -> None:
        to, source = ctypes.c_void_p(address), ctypes.c_void_p(array.ctypes.data)
        self.call("hipMemcpy", to, source, ctypes.c_size_t(array.nbytes), TO_DEVICE)

    def download(self, array: npt.NDArray[np.uint8], address: int) -> None:
        to, source = ctypes.c_void_p(array.ctypes.data), ctypes.c_void_p(address)
        self.call("hipMemcpy", to, source, ctypes.c_size_t(array.nbytes), TO_HOST)

    def compile(self, source: str, name: str) -> bytes:
        """Compile with hiprtc to a code object for this device."""
        if self._compiler is None:
            raise HipError(f"{COMPILERS[0]} is not installed; install ROCm's hiprtc")
        rtc, program, size = self._compiler, ctypes.c_void_p(), ctypes.c_size_t()
        arguments = (ctypes.byref(program), source.encode(), name.encode(), 0, None, None)
        if rtc.hiprtcCreateProgram(*arguments) != 0:
            raise HipError("hiprtcCreateProgram failed")
        failed = rtc.hiprtcCompileProgram(program, 0, None)
        rtc.hiprtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value + 1)
        rtc.hiprtcGetProgramLog(program, log)
        if failed != 0:
            raise HipError(f"{name} does not compile: {log.value.decode(errors='replace').strip()}")
        rtc.hiprtcGetCodeSize(program, ctypes.byref(size))
        code = ctypes.create_string_buffer(size.value)
        rtc.hiprtcGetCode(program, code)
        rtc.hiprtcDestroyProgram(ctypes.byref(program))
        return code.raw

    def kernels(self, code: bytes, *names: str) -> list[ctypes.c_void_p]:
        module = ctypes.c_void_p()
        self.call("hipModuleLoadData", ctypes.byref(module), code)
        functions = []
        for name in names:
            function = ctypes.c_void_p()
            self.call("hipModuleGetFunction", ctypes.byref(function), module, name.encode())
            functions.append(function)
        return functions

    def launch(self, kernel: ctypes.c_void_p, grid: int, block: int, *arguments: ctypes._SimpleCData) -> None:
        pointers = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(each) for each in arguments))
        self.call("hipModuleLaunchKernel", kernel, grid, 1, 1, block, 1, 1, 0, None, pointers, None)
