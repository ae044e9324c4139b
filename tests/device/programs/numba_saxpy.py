"""numba-cuda: a kernel compiled from Python, launched on two streams."""

from __future__ import annotations

import hashlib

import numpy as np
from numba import cuda

COUNT = 1 << 16


@cuda.jit
def numba_saxpy(factor, x, y):  # type: ignore[no-untyped-def]  # numba infers the types from the arguments
    i = cuda.grid(1)
    if i < y.size:
        y[i] += factor * x[i]


host = np.arange(COUNT, dtype=np.float32)
for factor in (np.float32(2), np.float32(3)):
    stream = cuda.stream()
    x_on_device, y_on_device = cuda.to_device(host, stream), cuda.to_device(host, stream)
    numba_saxpy[COUNT // 256, 256, stream](factor, x_on_device, y_on_device)
    result = y_on_device.copy_to_host(stream=stream)
    stream.synchronize()
    assert np.array_equal(result, (factor + 1) * host)
    print(factor, hashlib.sha256(result.tobytes()).hexdigest())
