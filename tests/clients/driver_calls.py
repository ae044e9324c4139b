"""Shared by the cuda.bindings programs of this folder. A refused call or a wrong answer ends the program."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from cuda.bindings import driver, nvrtc

ATTRIBUTE = driver.CUdevice_attribute


def check(answer):
    """The values of a bindings call, without its result code."""
    result, *values = answer
    if int(result) != 0:
        raise SystemExit(f"{result!r}")
    return values[0] if len(values) == 1 else values


def refused(answer, expected) -> None:
    """The call answered with the error `expected`."""
    if answer[0] != expected:
        raise SystemExit(f"{answer[0]!r} instead of {expected!r}")


def equal(found, expected, what: str) -> None:
    if not np.array_equal(np.asarray(found), np.asarray(expected)):
        raise SystemExit(f"{what}: {found!r} instead of {expected!r}")


def begin():
    """The first device, its primary context current."""
    check(driver.cuInit(0))
    device = check(driver.cuDeviceGet(0))
    context = check(driver.cuDevicePrimaryCtxRetain(device))
    check(driver.cuCtxSetCurrent(context))
    return device, context


def compile_ptx(source: str, *options: str, name: str = "client.cu") -> bytes:
    """PTX for the current device."""
    device = check(driver.cuCtxGetDevice())
    major = check(driver.cuDeviceGetAttribute(ATTRIBUTE.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device))
    minor = check(driver.cuDeviceGetAttribute(ATTRIBUTE.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device))
    program = check(nvrtc.nvrtcCreateProgram(source.encode(), name.encode(), 0, [], []))
    words = [option.encode() for option in (f"--gpu-architecture=compute_{major}{minor}", *options)]
    check(nvrtc.nvrtcCompileProgram(program, len(words), words))
    ptx = b" " * check(nvrtc.nvrtcGetPTXSize(program))
    check(nvrtc.nvrtcGetPTX(program, ptx))
    check(nvrtc.nvrtcDestroyProgram(program))
    return ptx


class Arguments:
    """Kernel arguments as the driver takes them: the address of an array of their addresses."""

    def __init__(self, *values: np.generic | driver.CUdeviceptr) -> None:
        self._values = [
            np.array([int(value)], dtype=np.uint64)
            if isinstance(value, driver.CUdeviceptr)
            else np.array([value])
            for value in values
        ]
        self._addresses = np.array([value.ctypes.data for value in self._values], dtype=np.uint64)

    @property
    def address(self) -> int:
        return self._addresses.ctypes.data


def launch(kernel, blocks: int, threads: int, stream, *values, shared: int = 0) -> None:
    arguments = Arguments(*values)
    check(driver.cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, shared, stream, arguments.address, 0))


def to_device(array: np.ndarray):
    """New device memory that holds `array`."""
    pointer = check(driver.cuMemAlloc(array.nbytes))
    check(driver.cuMemcpyHtoD(pointer, array.ctypes.data, array.nbytes))
    return pointer


def from_device(pointer, shape: int | Sequence[int], dtype) -> np.ndarray:
    array = np.empty(shape, dtype)
    check(driver.cuMemcpyDtoH(array.ctypes.data, pointer, array.nbytes))
    return array
