"""numba, which takes the arrays as they are."""

import warnings

import numpy as np
from numba import cuda

warnings.filterwarnings("ignore")


@cuda.jit
def mix(x, y, rounds):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        for _ in range(rounds):
            v = np.uint32(v ^ (v >> np.uint32(16)))
            v = np.uint32(v * np.uint32(0x7FEB352D))
            v = np.uint32(v ^ (v >> np.uint32(15)))
            v = np.uint32(v + np.uint32(0x9E3779B9))
        y[i] = v


def solution(x, y, n, rounds):
    mix[-(-n // 256), 256](cuda.as_cuda_array(x), cuda.as_cuda_array(y), rounds)
