"""cuda.core's pools of managed memory and of pinned host memory."""

from __future__ import annotations

import sys

import numpy as np
from cuda.core import (
    Device,
    LaunchConfig,
    ManagedMemoryResource,
    PinnedMemoryResource,
    Program,
    ProgramOptions,
    launch,
)

SOURCE = """
extern "C" __global__ void increment(unsigned char *x, unsigned n)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] += 1;
}
"""
SIZE = 3000


def equal(found, expected, what: str) -> None:
    if not np.array_equal(found, expected):
        raise SystemExit(f"{what}: {found} instead of {expected}")


def main() -> int:
    device = Device()
    device.set_current()
    stream = device.create_stream()
    options = ProgramOptions(arch=f"compute_{device.arch}")
    kernel = Program(SOURCE, code_type="c++", options=options).compile("ptx").get_kernel("increment")
    managed = ManagedMemoryResource().allocate(SIZE, stream=stream)
    # The device may not touch a pool of the host's unless it is let; copies may.
    pinned = PinnedMemoryResource().allocate(SIZE, stream=stream)
    stream.sync()
    values = np.from_dlpack(pinned).view(np.uint8)
    values[:] = np.arange(SIZE) % 200
    managed.copy_from(pinned, stream=stream)
    for _ in range(2):
        launch(stream, LaunchConfig(grid=4, block=128), kernel, managed, np.uint32(SIZE))
    stream.sync()
    equal(np.from_dlpack(managed).view(np.uint8), values + 2, "managed memory, seen by the host")
    managed.copy_to(pinned, stream=stream)
    stream.sync()
    equal(values, np.arange(SIZE) % 200 + 2, "pinned memory")
    for buffer in (managed, pinned):
        buffer.close(stream)
    stream.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
