"""Graphs through cuda.bindings: captured, built by hand, asked about, changed and launched again."""

from __future__ import annotations

import sys

import numpy as np
from cuda.bindings import driver
from driver_calls import Arguments, begin, check, compile_ptx, equal, from_device, launch, refused, to_device

SOURCE = """
extern "C" __global__ void scale(float *x, float factor, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= factor;
}

extern "C" __global__ void add(float *z, const float *x, const float *y, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = x[i] + y[i];
}
"""
COUNT = 300
ERROR = driver.CUresult
STATUS = driver.CUstreamCaptureStatus
KIND = driver.CUgraphNodeType
NONBLOCKING = driver.CUstream_flags.CU_STREAM_NON_BLOCKING.value


def kernel_node(function, arguments: Arguments) -> driver.CUDA_KERNEL_NODE_PARAMS:
    node = driver.CUDA_KERNEL_NODE_PARAMS()
    node.func = function
    node.gridDimX, node.gridDimY, node.gridDimZ = 3, 1, 1
    node.blockDimX, node.blockDimY, node.blockDimZ = 128, 1, 1
    node.kernelParams = arguments.address
    return node


def run(executable, stream, times: int = 1) -> None:
    for _ in range(times):
        check(driver.cuGraphLaunch(executable, stream))
    check(driver.cuStreamSynchronize(stream))


def captured(scale, add) -> None:
    """A fork and a join: two scalings side by side, then their sum."""
    x, y = (np.arange(COUNT, dtype=np.float32) * factor for factor in (1, 2))
    on_device = [to_device(x), to_device(y), check(driver.cuMemAlloc(x.nbytes))]
    main, side = (check(driver.cuStreamCreate(NONBLOCKING)) for _ in range(2))
    fork, join = (check(driver.cuEventCreate(2)) for _ in range(2))
    check(driver.cuStreamBeginCapture(main, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL))
    check(driver.cuEventRecord(fork, main))
    check(driver.cuStreamWaitEvent(side, fork, 0))
    launch(scale, 3, 128, main, on_device[0], np.float32(2), np.uint32(COUNT))
    launch(scale, 3, 128, side, on_device[1], np.float32(3), np.uint32(COUNT))
    equal(check(driver.cuStreamIsCapturing(side)), STATUS.CU_STREAM_CAPTURE_STATUS_ACTIVE, "capture status")
    refused(driver.cuStreamSynchronize(main), ERROR.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
    refused(driver.cuStreamEndCapture(main), ERROR.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
    equal(check(driver.cuStreamIsCapturing(main)), STATUS.CU_STREAM_CAPTURE_STATUS_NONE, "capture status")

    check(driver.cuStreamBeginCapture(main, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL))
    check(driver.cuEventRecord(fork, main))
    check(driver.cuStreamWaitEvent(side, fork, 0))
    launch(scale, 3, 128, main, on_device[0], np.float32(2), np.uint32(COUNT))
    launch(scale, 3, 128, side, on_device[1], np.float32(3), np.uint32(COUNT))
    check(driver.cuEventRecord(join, side))
    check(driver.cuStreamWaitEvent(main, join, 0))
    launch(add, 3, 128, main, on_device[2], on_device[0], on_device[1], np.uint32(COUNT))
    graph = check(driver.cuStreamEndCapture(main))
    equal(check(driver.cuGraphGetNodes(graph))[1], 3, "captured nodes")
    roots, _ = check(driver.cuGraphGetRootNodes(graph, 2))
    kinds = [check(driver.cuGraphNodeGetType(root)) for root in roots]
    equal(kinds, [KIND.CU_GRAPH_NODE_TYPE_KERNEL] * 2, "captured roots")
    executable = check(driver.cuGraphInstantiate(graph, 0))
    check(driver.cuGraphUpload(executable, main))
    run(executable, main, times=2)
    equal(from_device(on_device[2], COUNT, np.float32), 4 * x + 9 * y, "a captured graph launched twice")
    check(driver.cuGraphExecDestroy(executable))
    check(driver.cuGraphDestroy(graph))
    for pointer in on_device:
        check(driver.cuMemFree(pointer))
    for event in (fork, join):
        check(driver.cuEventDestroy(event))
    for stream in (main, side):
        check(driver.cuStreamDestroy(stream))


def by_hand(scale, add) -> None:
    """memset and memcpy, two kernels, one changed afterwards."""
    _, context = driver.cuCtxGetCurrent()
    ones, x, z = (check(driver.cuMemAlloc(4 * COUNT)) for _ in range(3))
    values = np.arange(COUNT, dtype=np.float32)
    graph = check(driver.cuGraphCreate(0))
    fill = driver.CUDA_MEMSET_NODE_PARAMS()
    fill.dst, fill.elementSize, fill.width, fill.height = ones, 4, COUNT, 1
    fill.value = int(np.float32(1).view(np.uint32))
    filled = check(driver.cuGraphAddMemsetNode(graph, None, 0, fill, context))
    copy = driver.CUDA_MEMCPY3D()
    copy.srcMemoryType = driver.CUmemorytype.CU_MEMORYTYPE_HOST
    copy.srcHost = values.ctypes.data
    copy.dstMemoryType = driver.CUmemorytype.CU_MEMORYTYPE_DEVICE
    copy.dstDevice = x
    copy.WidthInBytes, copy.Height, copy.Depth = values.nbytes, 1, 1
    copied = check(driver.cuGraphAddMemcpyNode(graph, None, 0, copy, context))
    scaling = Arguments(x, np.float32(10), np.uint32(COUNT))
    scaled = check(driver.cuGraphAddKernelNode(graph, [copied], 1, kernel_node(scale, scaling)))
    adding = Arguments(z, x, ones, np.uint32(COUNT))
    check(driver.cuGraphAddKernelNode(graph, [scaled, filled], 2, kernel_node(add, adding)))
    equal(check(driver.cuGraphNodeGetType(scaled)), KIND.CU_GRAPH_NODE_TYPE_KERNEL, "kind of a node")
    equal(int(check(driver.cuGraphKernelNodeGetParams(scaled)).blockDimX), 128, "block of a node")

    stream = check(driver.cuStreamCreate(NONBLOCKING))
    executable = check(driver.cuGraphInstantiate(graph, 0))
    run(executable, stream)
    equal(from_device(z, COUNT, np.float32), 10 * values + 1, "a graph built by hand")
    other = Arguments(x, np.float32(-1), np.uint32(COUNT))
    check(driver.cuGraphExecKernelNodeSetParams(executable, scaled, kernel_node(scale, other)))
    run(executable, stream)
    equal(from_device(z, COUNT, np.float32), 1 - values, "the graph with another factor")
    clone = check(driver.cuGraphClone(graph))
    again = check(driver.cuGraphInstantiate(clone, 0))
    check(driver.cuGraphDestroy(clone))
    run(again, stream)
    equal(from_device(z, COUNT, np.float32), 10 * values + 1, "a clone has the parameters as they were")
    for each in (executable, again):
        check(driver.cuGraphExecDestroy(each))
    check(driver.cuGraphDestroy(graph))
    for pointer in (ones, x, z):
        check(driver.cuMemFree(pointer))
    check(driver.cuStreamDestroy(stream))


def main() -> int:
    device, _ = begin()
    module = check(driver.cuModuleLoadData(compile_ptx(SOURCE)))
    scale, add = (check(driver.cuModuleGetFunction(module, name)) for name in (b"scale", b"add"))
    captured(scale, add)
    by_hand(scale, add)
    check(driver.cuModuleUnload(module))
    check(driver.cuDevicePrimaryCtxRelease(device))
    return 0


if __name__ == "__main__":
    sys.exit(main())
