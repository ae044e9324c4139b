"""CuPy: a RawKernel compiled by NVRTC, and elementwise kernels of its own."""

from __future__ import annotations

import hashlib

import cupy

scale = cupy.RawKernel(
    r"""
extern "C" __global__ void cupy_scale(float *values, int count, float factor)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] *= factor;
}
""",
    "cupy_scale",
)
values = cupy.arange(1000, dtype=cupy.float32)
scale((4,), (256,), (values, cupy.int32(values.size), cupy.float32(3)))
assert bool((values == 3 * cupy.arange(1000, dtype=cupy.float32)).all())
print("scaled", hashlib.sha256(values.get().tobytes()).hexdigest())
print("root", hashlib.sha256((cupy.sqrt(values) + 1).get().tobytes()).hexdigest())
