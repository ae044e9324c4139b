"""saxpy through cuda.bindings: NVRTC compiles, the driver API runs. Exits non-zero if numpy disagrees."""

from __future__ import annotations

import sys

import numpy as np
from cuda.bindings import driver, nvrtc

SOURCE = b"""
extern "C" __global__ void saxpy(float a, const float *x, float *y, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
"""


def check(answer):
    """The values of a bindings call, without its result code."""
    result, *values = answer
    if int(result) != 0:
        raise SystemExit(f"cuda_bindings_saxpy: {result!r}")
    return values[0] if len(values) == 1 else values


def compile_ptx(major: int, minor: int) -> bytes:
    program = check(nvrtc.nvrtcCreateProgram(SOURCE, b"saxpy.cu", 0, [], []))
    options = [f"--gpu-architecture=compute_{major}{minor}".encode()]
    check(nvrtc.nvrtcCompileProgram(program, len(options), options))
    ptx = b" " * check(nvrtc.nvrtcGetPTXSize(program))
    check(nvrtc.nvrtcGetPTX(program, ptx))
    return ptx


def main() -> int:
    check(driver.cuInit(0))
    device = check(driver.cuDeviceGet(0))
    context = check(driver.cuDevicePrimaryCtxRetain(device))
    check(driver.cuCtxSetCurrent(context))
    attribute = driver.CUdevice_attribute
    major = check(driver.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device))
    minor = check(driver.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device))
    module = check(driver.cuModuleLoadData(compile_ptx(major, minor)))
    kernel = check(driver.cuModuleGetFunction(module, b"saxpy"))

    count = 10_000
    random = np.random.default_rng(1)
    x = random.random(count, dtype=np.float32)
    y = random.random(count, dtype=np.float32)
    scale = np.float32(2.5)
    expected = scale * x + y
    on_device = [check(driver.cuMemAlloc(x.nbytes)) for _ in range(2)]
    check(driver.cuMemcpyHtoD(on_device[0], x.ctypes.data, x.nbytes))
    check(driver.cuMemcpyHtoD(on_device[1], y.ctypes.data, y.nbytes))
    arguments = [
        np.array([scale]),
        np.array([int(on_device[0])], dtype=np.uint64),
        np.array([int(on_device[1])], dtype=np.uint64),
        np.array([count], dtype=np.uint32),
    ]
    pointers = np.array([argument.ctypes.data for argument in arguments], dtype=np.uint64)
    stream = check(driver.cuStreamCreate(0))
    grid = (count + 255) // 256
    check(driver.cuLaunchKernel(kernel, grid, 1, 1, 256, 1, 1, 0, stream, pointers.ctypes.data, 0))
    check(driver.cuStreamSynchronize(stream))
    result = np.empty_like(y)
    check(driver.cuMemcpyDtoH(result.ctypes.data, on_device[1], result.nbytes))
    for pointer in on_device:
        check(driver.cuMemFree(pointer))
    check(driver.cuStreamDestroy(stream))
    check(driver.cuModuleUnload(module))
    check(driver.cuDevicePrimaryCtxRelease(device))

    error = float(np.abs(result - expected).max())
    print(f"cuda_bindings_saxpy: {count} elements, largest error {error:.1e}")
    return 0 if np.allclose(result, expected, rtol=1e-6, atol=1e-6) else 1


if __name__ == "__main__":
    sys.exit(main())
