"""saxpy as a numba-cuda kernel. Exits non-zero if numpy disagrees.

Without nvJitLink numba links PTX through the driver's cuLink* calls; cuda.core then warns that it does.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from numba import cuda

warnings.filterwarnings("ignore", message="Grid size .* under-utilization")
warnings.filterwarnings("ignore", message="cuda.bindings.nvjitlink is not available")


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = a * x[i] + y[i]


def main() -> int:
    count = 10_000
    random = np.random.default_rng(3)
    scale = np.float32(1.25)
    x = random.random(count, dtype=np.float32)
    y = random.random(count, dtype=np.float32)
    expected = scale * x + y
    device_x, device_y = cuda.to_device(x), cuda.to_device(y)
    saxpy[(count + 127) // 128, 128](scale, device_x, device_y)
    result = device_y.copy_to_host()

    error = float(np.abs(result - expected).max())
    print(f"numba_saxpy: {count} elements, largest error {error:.1e}")
    return 0 if np.allclose(result, expected, rtol=1e-6, atol=1e-6) else 1


if __name__ == "__main__":
    sys.exit(main())
