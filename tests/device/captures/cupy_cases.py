"""Kernels that CuPy compiles with NVRTC: a plain one, and a split-K product in which the last block sums up."""

from __future__ import annotations

import cupy
from harness import Case, CupyClock, main

SCALE = r"""
extern "C" __global__ void scale(const float *values, float *result, int count, float factor)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        result[i] = values[i] * factor;
}
"""

SPLIT = r"""
extern "C" __global__ void split_dot(const float *a, const float *b, float *partial, unsigned *arrived,
                                     float *result, int depth, int parts)
{
    // Block (row, part): one part of a row's dot product. The last part to arrive adds all of them, in order.
    __shared__ float sums[256];
    __shared__ bool last;
    const int row = blockIdx.x, part = blockIdx.y, share = depth / parts;
    float sum = 0;
    for (int i = threadIdx.x; i < share; i += blockDim.x)
        sum += a[row * depth + part * share + i] * b[row * depth + part * share + i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[row * parts + part] = sums[0];
        __threadfence();
        last = atomicInc(arrived + row, parts - 1) == parts - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        float total = 0;
        for (int i = 0; i < parts; i++)
            total += ((volatile float *)partial)[row * parts + i];
        result[row] = total;
    }
}
"""


def raw_kernel() -> Case:
    scale = cupy.RawKernel(SCALE, "scale")
    count = 1 << 22
    values, result = cupy.random.rand(count, dtype=cupy.float32), cupy.empty(count, dtype=cupy.float32)
    grid = ((count + 255) // 256,)
    arguments = (values, result, cupy.int32(count), cupy.float32(3))
    return Case(lambda: scale(grid, (256,), arguments), {"result": result})


def split_k() -> Case:
    kernel = cupy.RawKernel(SPLIT, "split_dot")
    rows, depth, parts = 512, 16384, 8
    a, b = (cupy.random.rand(rows, depth, dtype=cupy.float32) for _ in range(2))
    partial = cupy.zeros((rows, parts), dtype=cupy.float32)
    arrived = cupy.zeros(rows, dtype=cupy.uint32)
    result = cupy.empty(rows, dtype=cupy.float32)
    arguments = (a, b, partial, arrived, result, cupy.int32(depth), cupy.int32(parts))
    return Case(lambda: kernel((rows, parts), (256,), arguments), {"result": result})


if __name__ == "__main__":
    cupy.random.seed(0)
    main({"raw_kernel": raw_kernel, "split_k": split_k}, CupyClock())
