"""Submissions in HIP C++: a kernel that hiprtc compiles for the device."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...toolchain.paths import HIP_BRIDGE
from ..contract import Order
from .compilers import first_error
from .cuda_entry import KernelEntry
from .driver import Driver
from .entry import Entry
from .reporting import SubmissionError
from .source import directive, kernel_of

STANDARD = b"--std=c++17"
_SHIM = "NEUTRINO_HIP_SHIM"


def hip_driver() -> Driver:
    """The CUDA driver's functions over the HIP library, which is the shim."""
    return Driver(str(HIP_BRIDGE))


def load_hip(order: Order, driver: Driver) -> Entry:
    """Raises SubmissionError with the compiler's first error."""
    path = Path(order.submission)
    source = path.read_text(errors="replace")
    kernel = kernel_of(source, order.entry)
    if kernel is None:
        raise SubmissionError(
            f"{order.entry} of {path.name} is a host function, which hiprtc does not compile; "
            f"make {order.entry} a __global__ function"
        )
    code, name = _compiled(path, kernel)
    return KernelEntry(driver, code, name, path.name, directive(source, "launch"), order.convention)


def _compiled(path: Path, kernel: str) -> tuple[bytes, str]:
    """A code object and the kernel's name in it. Raises SubmissionError."""
    hiprtc = ctypes.CDLL(os.environ[_SHIM])
    if not hasattr(hiprtc, "hiprtcCompileProgram"):
        raise SubmissionError(f"{path.name} cannot be compiled: this HIP library has no hiprtc in it")
    program = ctypes.c_void_p()
    status = hiprtc.hiprtcCreateProgram(
        ctypes.byref(program), path.read_bytes(), path.name.encode(), 0, None, None
    )
    if status != 0:
        raise SubmissionError(f"hiprtcCreateProgram returned error {status}")
    try:
        status = hiprtc.hiprtcAddNameExpression(program, kernel.encode())
        if status == 0:
            status = hiprtc.hiprtcCompileProgram(program, 1, (ctypes.c_char_p * 1)(STANDARD))
        if status != 0:
            log = _bytes(hiprtc.hiprtcGetProgramLogSize, hiprtc.hiprtcGetProgramLog, program)
            text = log.rstrip(b"\0").decode(errors="replace")
            raise SubmissionError(first_error(text, path) or f"hiprtc returned error {status}", text)
        lowered = ctypes.c_char_p()
        status = hiprtc.hiprtcGetLoweredName(program, kernel.encode(), ctypes.byref(lowered))
        if status != 0 or not lowered.value:
            raise SubmissionError(f"{path.name} has no kernel {kernel}: hiprtc returned error {status}")
        code = _bytes(hiprtc.hiprtcGetCodeSize, hiprtc.hiprtcGetCode, program)
        return code, lowered.value.decode(errors="replace")
    finally:
        hiprtc.hiprtcDestroyProgram(ctypes.byref(program))


def _bytes(size_of: Callable[..., Any], read: Callable[..., Any], program: ctypes.c_void_p) -> bytes:
    size = ctypes.c_size_t()
    size_of(program, ctypes.byref(size))
    content = ctypes.create_string_buffer(max(size.value, 1))
    read(program, content)
    return content.raw
