"""A kernel of numba: prints a hash of its results, and the costs of launches.

With --driver-link nvJitLink is hidden, so numba-cuda links by the driver, which then sees the PTX.
"""

import hashlib
import sys

import numpy as np
import timed

if "--driver-link" in sys.argv:
    from cuda.bindings._internal import nvjitlink

    nvjitlink._inspect_function_pointer = lambda _name: 0  # cuda.core takes nvJitLink for too old

from numba import cuda


@cuda.jit
def saxpy(y, x, a):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < y.size:
        y[i] += a * x[i]


x = (np.arange(100_000) % 97).astype(np.float32)
y, given = cuda.to_device(x), cuda.to_device(x)


def launch() -> None:
    saxpy[782, 128](y, given, np.float32(0.5))
    cuda.synchronize()


timed.launches(launch)
print(hashlib.sha256(y.copy_to_host().tobytes()).hexdigest())
