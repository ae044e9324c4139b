"""saxpy through cuda.core. Exits non-zero if numpy disagrees."""

from __future__ import annotations

import sys

import numpy as np
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

SOURCE = """
extern "C" __global__ void saxpy(float a, const float *x, float *y, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
"""


def main() -> int:
    device = Device()
    device.set_current()
    stream = device.create_stream()
    architecture = "".join(str(part) for part in device.compute_capability)
    program = Program(SOURCE, code_type="c++", options=ProgramOptions(arch=f"compute_{architecture}"))
    kernel = program.compile("ptx").get_kernel("saxpy")

    count = 10_000
    random = np.random.default_rng(2)
    scale = np.float32(-0.75)
    x = random.random(count, dtype=np.float32)
    y = random.random(count, dtype=np.float32)
    expected = scale * x + y
    buffers = [device.allocate(x.nbytes, stream=stream) for _ in range(2)]
    for buffer, values in zip(buffers, (x, y), strict=True):
        driver.cuMemcpyHtoDAsync(int(buffer.handle), values.ctypes.data, values.nbytes, stream.handle)
    config = LaunchConfig(grid=(count + 127) // 128, block=128)
    launch(stream, config, kernel, scale, buffers[0], buffers[1], np.uint32(count))
    result = np.empty_like(y)
    driver.cuMemcpyDtoHAsync(result.ctypes.data, int(buffers[1].handle), result.nbytes, stream.handle)
    stream.sync()
    for buffer in buffers:
        buffer.close(stream)
    stream.close()

    error = float(np.abs(result - expected).max())
    print(f"cuda_core_saxpy: {count} elements, largest error {error:.1e}")
    return 0 if np.allclose(result, expected, rtol=1e-6, atol=1e-6) else 1


if __name__ == "__main__":
    sys.exit(main())
