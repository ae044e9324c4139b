"""Code through cuda.bindings: NVRTC, modules, libraries, the linker, kernel attributes, extended launches, errors."""

from __future__ import annotations

import sys

import numpy as np
from cuda.bindings import driver, nvrtc
from driver_calls import Arguments, begin, check, compile_ptx, equal, from_device, launch, refused

SOURCE = """
__device__ int total;
__constant__ int weights[4] = {1, 10, 100, 1000};

template <typename T> __global__ void fill(T *out, T value)
{
    out[threadIdx.x] = value;
}

extern "C" __global__ void weigh(const int *x)
{
    extern __shared__ int products[];
    products[threadIdx.x] = x[threadIdx.x] * weights[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        total = 0;
        for (unsigned i = 0; i < blockDim.x; i++)
            total += products[i];
    }
}
"""
CALLER = """
extern "C" __device__ int twice(int);
extern "C" __global__ void call(int *out)
{
    out[threadIdx.x] = twice(threadIdx.x) + 1;
}
"""
CALLEE = """
extern "C" __device__ int twice(int x)
{
    return 2 * x;
}
"""
ERROR = driver.CUresult
OPTION = driver.CUjit_option
ATTRIBUTE = driver.CUfunction_attribute


def named_templates() -> None:
    """NVRTC gives the mangled name of an instance; the driver finds the kernel by it."""
    program = check(nvrtc.nvrtcCreateProgram(SOURCE.encode(), b"fill.cu", 0, [], []))
    check(nvrtc.nvrtcAddNameExpression(program, b"fill<double>"))
    options = [b"--gpu-architecture=compute_90", b"--std=c++17"]
    check(nvrtc.nvrtcCompileProgram(program, len(options), options))
    name = check(nvrtc.nvrtcGetLoweredName(program, b"fill<double>"))
    ptx = b" " * check(nvrtc.nvrtcGetPTXSize(program))
    check(nvrtc.nvrtcGetPTX(program, ptx))
    check(nvrtc.nvrtcDestroyProgram(program))
    module = check(driver.cuModuleLoadData(ptx))
    kernel = check(driver.cuModuleGetFunction(module, name))
    pointer = check(driver.cuMemAlloc(64))
    launch(kernel, 1, 8, 0, pointer, np.float64(2.5))
    equal(from_device(pointer, 8, np.float64), np.full(8, 2.5), "an instance of a template")
    check(driver.cuMemFree(pointer))
    check(driver.cuModuleUnload(module))


def module_and_globals(ptx: bytes) -> None:
    module = check(driver.cuModuleLoadDataEx(ptx, 1, [OPTION.CU_JIT_OPTIMIZATION_LEVEL], [2]))
    kernel = check(driver.cuModuleGetFunction(module, b"weigh"))
    total, size = check(driver.cuModuleGetGlobal(module, b"total"))
    equal(size, 4, "bytes of a global")
    weights, size = check(driver.cuModuleGetGlobal(module, b"weights"))
    equal(size, 16, "bytes of a constant array")
    replaced = np.array([1, 2, 3, 4], np.int32)
    check(driver.cuMemcpyHtoD(weights, replaced.ctypes.data, replaced.nbytes))
    x = np.array([5, 6, 7, 8], np.int32)
    pointer = check(driver.cuMemAlloc(x.nbytes))
    check(driver.cuMemcpyHtoD(pointer, x.ctypes.data, x.nbytes))
    launch(kernel, 1, 4, 0, pointer, shared=16)
    equal(from_device(total, 1, np.int32), [(x * replaced).sum()], "a global that a kernel wrote")
    refused(driver.cuModuleGetFunction(module, b"none"), ERROR.CUDA_ERROR_NOT_FOUND)
    refused(driver.cuModuleGetGlobal(module, b"none"), ERROR.CUDA_ERROR_NOT_FOUND)
    check(driver.cuMemFree(pointer))
    check(driver.cuModuleUnload(module))


def library(device, ptx: bytes) -> None:
    loaded = check(driver.cuLibraryLoadData(ptx, [], [], 0, [], [], 0))
    equal(check(driver.cuLibraryGetKernelCount(loaded)), 1, "kernels of a library")
    kernel = check(driver.cuLibraryGetKernel(loaded, b"weigh"))
    equal(check(driver.cuKernelGetName(kernel)), b"weigh", "name of a kernel")
    equal(check(driver.cuKernelGetParamInfo(kernel, 0)), [0, 8], "where its parameter is")
    refused(driver.cuKernelGetParamInfo(kernel, 1), ERROR.CUDA_ERROR_INVALID_VALUE)
    threads = ATTRIBUTE.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
    equal(check(driver.cuKernelGetAttribute(threads, kernel, device)), 1024, "threads of a block")
    function = check(driver.cuKernelGetFunction(kernel))
    shared = ATTRIBUTE.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    check(driver.cuFuncSetAttribute(function, shared, 100_000))
    equal(check(driver.cuFuncGetAttribute(shared, function)), 100_000, "dynamic shared memory")
    blocks = check(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(function, 128, 100_000))
    equal(blocks, 2, "blocks that share a multiprocessor of 228 KiB")
    module = check(driver.cuLibraryGetModule(loaded))
    check(driver.cuModuleGetFunction(module, b"weigh"))
    total, size = check(driver.cuLibraryGetGlobal(loaded, b"total"))
    equal((size, int(total) != 0), (4, True), "a global of a library")
    check(driver.cuLibraryUnload(loaded))


def linked() -> None:
    """Two compilations that need each other; the launch is cooperative, by its attribute."""
    pieces = [compile_ptx(source, "--relocatable-device-code=true") for source in (CALLER, CALLEE)]
    link = check(driver.cuLinkCreate(0, [], []))
    for number, ptx in enumerate(pieces):
        kind = driver.CUjitInputType.CU_JIT_INPUT_PTX
        check(driver.cuLinkAddData(link, kind, ptx, len(ptx), b"piece%d" % number, 0, [], []))
    image, size = check(driver.cuLinkComplete(link))
    equal(size > 0, True, "a link product")
    module = check(driver.cuModuleLoadData(image))
    check(driver.cuLinkDestroy(link))
    kernel = check(driver.cuModuleGetFunction(module, b"call"))
    pointer = check(driver.cuMemAlloc(4 * 32))
    configuration = driver.CUlaunchConfig()
    configuration.gridDimX, configuration.gridDimY, configuration.gridDimZ = 1, 1, 1
    configuration.blockDimX, configuration.blockDimY, configuration.blockDimZ = 32, 1, 1
    configuration.hStream = check(driver.cuStreamCreate(1))
    cooperative = driver.CUlaunchAttribute()
    cooperative.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
    cooperative.value.cooperative = 1
    configuration.attrs, configuration.numAttrs = [cooperative], 1
    arguments = Arguments(pointer)
    check(driver.cuLaunchKernelEx(configuration, kernel, arguments.address, 0))
    check(driver.cuStreamSynchronize(configuration.hStream))
    equal(from_device(pointer, 32, np.int32), 2 * np.arange(32) + 1, "linked code")
    check(driver.cuStreamDestroy(configuration.hStream))
    check(driver.cuMemFree(pointer))
    check(driver.cuModuleUnload(module))


def mistakes(ptx: bytes) -> None:
    refused(driver.cuModuleLoadData(ptx.replace(b"bar.sync", b"bar.sink")), ERROR.CUDA_ERROR_INVALID_PTX)
    program = check(nvrtc.nvrtcCreateProgram(b"__global__ void f() { nonsense; }", b"bad.cu", 0, [], []))
    if nvrtc.nvrtcCompileProgram(program, 0, [])[0] != nvrtc.nvrtcResult.NVRTC_ERROR_COMPILATION:
        raise SystemExit("NVRTC took nonsense")
    check(nvrtc.nvrtcDestroyProgram(program))
    module = check(driver.cuModuleLoadData(ptx))
    kernel = check(driver.cuModuleGetFunction(module, b"weigh"))
    too_many = driver.cuLaunchKernel(kernel, 1, 1, 1, 1025, 1, 1, 0, 0, Arguments(np.uint64(0)).address, 0)
    refused(too_many, ERROR.CUDA_ERROR_INVALID_VALUE)
    too_much = driver.cuLaunchKernel(kernel, 1, 1, 1, 4, 1, 1, 1 << 20, 0, Arguments(np.uint64(0)).address, 0)
    refused(too_much, ERROR.CUDA_ERROR_INVALID_VALUE)
    check(driver.cuModuleUnload(module))


def main() -> int:
    device, _ = begin()
    ptx = compile_ptx(SOURCE)
    named_templates()
    module_and_globals(ptx)
    library(device, ptx)
    linked()
    mistakes(ptx)
    check(driver.cuDevicePrimaryCtxRelease(device))
    return 0


if __name__ == "__main__":
    sys.exit(main())
