"""A kernel that NVRTC compiles to PTX, launched through ctypes: prints a hash of its results, and its costs.

With --graph the launch is captured, and its graph is launched.
"""

import ctypes
import functools
import hashlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

import timed

SOURCE = b"""
__device__ float table[4] = {1, 2, 3, 4};
extern "C" __global__ void saxpy(float *y, const float *x, float a, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] += a * x[i] * table[i & 3];
}
"""
COUNT = 100_000


def nvrtc() -> ctypes.CDLL:
    """The newest NVRTC of this Python's packages, or that of the toolkit."""
    spec = importlib.util.find_spec("nvidia")
    folders = [Path(each) for each in spec.submodule_search_locations or ()] if spec else []
    found = sorted(str(each) for folder in folders for each in folder.rglob("libnvrtc.so.*"))
    return ctypes.CDLL(found[-1] if found else "libnvrtc.so")


def ptx(architecture: int) -> bytes:
    compiler, program, size = nvrtc(), ctypes.c_void_p(), ctypes.c_size_t()
    check(compiler.nvrtcCreateProgram(ctypes.byref(program), SOURCE, b"saxpy.cu", 0, None, None))
    options = (ctypes.c_char_p * 2)(f"--gpu-architecture=compute_{architecture}".encode(), b"-lineinfo")
    check(compiler.nvrtcCompileProgram(program, 2, options))
    check(compiler.nvrtcGetPTXSize(program, ctypes.byref(size)))
    text = ctypes.create_string_buffer(size.value)
    check(compiler.nvrtcGetPTX(program, text))
    return text.value


def check(status: int) -> None:
    if status:
        sys.exit(f"error {status}")


@functools.cache
def graph_of(cuda: ctypes.CDLL, queue: Callable[[ctypes.c_void_p | None], None]) -> ctypes.c_void_p:
    """An executable graph of what `queue` launches."""
    stream, graph, executable = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    check(cuda.cuStreamCreate(ctypes.byref(stream), 1))
    check(cuda.cuStreamBeginCapture_v2(stream, 0))
    queue(stream)
    check(cuda.cuStreamEndCapture(stream, ctypes.byref(graph)))
    check(cuda.cuGraphInstantiateWithFlags(ctypes.byref(executable), graph, ctypes.c_uint64(0)))
    return executable


def main() -> None:
    cuda = ctypes.CDLL("libcuda.so.1")
    context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    major, minor = ctypes.c_int(), ctypes.c_int()
    check(cuda.cuInit(0))
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    check(cuda.cuCtxSetCurrent(context))
    check(cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, 0))
    check(cuda.cuDeviceGetAttribute(ctypes.byref(minor), 76, 0))
    check(cuda.cuModuleLoadData(ctypes.byref(module), ptx(10 * major.value + minor.value)))
    check(cuda.cuModuleGetFunction(ctypes.byref(function), module, b"saxpy"))
    x = (ctypes.c_float * COUNT)(*(i % 97 for i in range(COUNT)))
    places = [ctypes.c_uint64(), ctypes.c_uint64()]
    for place in places:
        check(cuda.cuMemAlloc_v2(ctypes.byref(place), ctypes.sizeof(x)))
        check(cuda.cuMemcpyHtoD_v2(place, x, ctypes.c_size_t(ctypes.sizeof(x))))
    values = [*places, ctypes.c_float(0.5), ctypes.c_int(COUNT)]
    parameters = (ctypes.c_void_p * 4)(*(ctypes.cast(ctypes.byref(each), ctypes.c_void_p) for each in values))

    def queue(stream: ctypes.c_void_p | None) -> None:
        check(cuda.cuLaunchKernel(function, 64, 1, 1, 128, 1, 1, 0, stream, parameters, None))

    def launch() -> None:
        queue(None)
        check(cuda.cuCtxSynchronize())

    def launch_graph() -> None:
        check(cuda.cuGraphLaunch(graph_of(cuda, queue), None))
        check(cuda.cuCtxSynchronize())

    timed.launches(launch_graph if "--graph" in sys.argv else launch)
    check(cuda.cuMemcpyDtoH_v2(x, places[0], ctypes.c_size_t(ctypes.sizeof(x))))
    print(hashlib.sha256(bytes(x)).hexdigest())


main()
