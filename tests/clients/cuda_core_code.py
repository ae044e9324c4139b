"""Code through cuda.core: programs, names of instances, the linker, kernels' attributes and occupancy, launches."""

from __future__ import annotations

import sys
import warnings

import numpy as np
from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    LinkerOptions,
    ObjectCode,
    Program,
    ProgramOptions,
    launch,
)

SOURCE = """
template <typename T> __global__ void add(T *out, const T *x, T much, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = x[i] + much;
}

extern "C" __global__ void reverse(int *x)
{
    extern __shared__ int kept[];
    kept[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = kept[blockDim.x - 1 - threadIdx.x];
}
"""
CALLER = """
extern __device__ int square(int);
extern "C" __global__ void squares(int *out)
{
    out[threadIdx.x] = square(threadIdx.x);
}
"""
CALLEE = "__device__ int square(int x) { return x * x; }"

warnings.filterwarnings("ignore", message="cuda.bindings.nvjitlink is not available")


def equal(found, expected, what: str) -> None:
    if not np.array_equal(found, expected):
        raise SystemExit(f"{what}: {found} instead of {expected}")


def options(device: Device, **more) -> ProgramOptions:
    return ProgramOptions(arch=f"compute_{device.arch}", std="c++17", **more)


def instances(device: Device, stream, memory) -> None:
    names = ("add<int>", "add<double>")
    program = Program(SOURCE, code_type="c++", options=options(device))
    code = program.compile("ptx", name_expressions=names)
    for name, dtype in zip(names, (np.int32, np.float64), strict=True):
        kernel = code.get_kernel(name)
        count = 1000
        buffers = [memory.allocate(count * 8, stream=stream) for _ in range(2)]
        x, out = (np.from_dlpack(buffer).view(dtype)[:count] for buffer in buffers)
        x[:] = np.arange(count)
        launch(
            stream,
            LaunchConfig(grid=8, block=128),
            kernel,
            buffers[1],
            buffers[0],
            dtype(3),
            np.uint32(count),
        )
        stream.sync()
        equal(out, x + 3, name)
        for buffer in buffers:
            buffer.close(stream)
    program.close()


def attributes(device: Device, stream, memory) -> None:
    code = Program(SOURCE, code_type="c++", options=options(device)).compile("ptx")
    kernel = code.get_kernel("reverse")
    equal(kernel.num_arguments, 1, "parameters")
    equal([(info.offset, info.size) for info in kernel.arguments_info], [(0, 8)], "where they are")
    equal(kernel.attributes.max_threads_per_block, 1024, "threads of a block")
    equal(kernel.attributes.shared_size_bytes, 0, "static shared memory")
    blocks = kernel.occupancy.max_active_blocks_per_multiprocessor(256, 0)
    if not 1 <= blocks <= device.properties.max_threads_per_multiprocessor // 256:
        raise SystemExit(f"{blocks} blocks of 256 threads on a multiprocessor")
    buffer = memory.allocate(4 * 64, stream=stream)
    x = np.from_dlpack(buffer).view(np.int32)
    x[:] = np.arange(64)
    launch(stream, LaunchConfig(grid=1, block=64, shmem_size=4 * 64), kernel, buffer)
    stream.sync()
    equal(x, np.arange(64)[::-1], "a kernel with dynamic shared memory")
    buffer.close(stream)


def linked(device: Device, stream, memory) -> None:
    pieces = [
        Program(source, code_type="c++", options=options(device, relocatable_device_code=True)).compile("ptx")
        for source in (CALLER, CALLEE)
    ]
    again = ObjectCode.from_ptx(bytes(pieces[1].code))
    linker = Linker(pieces[0], again, options=LinkerOptions(arch=f"sm_{device.arch}"))
    kernel = linker.link("cubin").get_kernel("squares")
    buffer = memory.allocate(4 * 100, stream=stream)
    launch(stream, LaunchConfig(grid=1, block=100), kernel, buffer)
    stream.sync()
    equal(np.from_dlpack(buffer).view(np.int32), np.arange(100) ** 2, "linked code")
    buffer.close(stream)
    linker.close()


def main() -> int:
    device = Device()
    device.set_current()
    equal(device.compute_capability >= (7, 0), True, "compute capability")
    equal(device.properties.warp_size, 32, "threads of a warp")
    equal(len(device.name) > 0 and len(device.uuid) == 36, True, "names")
    stream = device.create_stream()
    memory = LegacyPinnedMemoryResource()
    instances(device, stream, memory)
    attributes(device, stream, memory)
    linked(device, stream, memory)
    stream.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
