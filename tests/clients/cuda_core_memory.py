"""cuda.core's memory resources, buffers, streams and events."""

from __future__ import annotations

import sys

import numpy as np
from cuda.core import (
    Device,
    DeviceMemoryResource,
    EventOptions,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    ProgramOptions,
    StreamOptions,
    VirtualMemoryResource,
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


def buffers(device: Device, kernel, stream) -> None:
    """In each kind of memory: fill, a kernel, and a copy to the host."""
    host = LegacyPinnedMemoryResource()
    resources = {
        "the device's own": device.memory_resource,
        "a pool": DeviceMemoryResource(device),
        "mapped": VirtualMemoryResource(device),
        "pinned": host,
    }
    for what, resource in resources.items():
        buffer = resource.allocate(SIZE, stream=stream)
        equal(buffer.size >= SIZE, True, f"size of {what} memory")
        buffer.fill(41, stream=stream)
        launch(stream, LaunchConfig(grid=4, block=128), kernel, buffer, np.uint32(SIZE))
        result = host.allocate(buffer.size, stream=stream)
        buffer.copy_to(result, stream=stream)
        stream.sync()
        equal(np.from_dlpack(result).view(np.uint8)[:SIZE], np.full(SIZE, 42, np.uint8), f"{what} memory")
        if buffer.is_host_accessible and what != "mapped":
            equal(
                np.from_dlpack(buffer).view(np.uint8)[:SIZE],
                np.full(SIZE, 42, np.uint8),
                f"{what}, by the host",
            )
        result.close(stream)
        buffer.close(stream)
    stream.sync()


def between_streams(device: Device, kernel, stream) -> None:
    other = device.create_stream(options=StreamOptions(nonblocking=True, priority=0))
    buffer = device.allocate(SIZE, stream=stream)
    buffer.fill(b"\x01\x02", stream=stream)
    launch(stream, LaunchConfig(grid=4, block=128), kernel, buffer, np.uint32(SIZE))
    event = stream.record(options=EventOptions(timing_enabled=True))
    other.wait(event)
    launch(other, LaunchConfig(grid=1, block=32), kernel, buffer, np.uint32(SIZE))
    later = other.record(options=EventOptions(timing_enabled=True))
    later.sync()
    equal((event.is_done, later.is_done), (True, True), "events that are waited for")
    equal(later - event >= 0, True, "time between the events")
    stream.wait(other)
    result = LegacyPinnedMemoryResource().allocate(SIZE, stream=stream)
    result.copy_from(buffer, stream=stream)
    stream.sync()
    equal(np.from_dlpack(result).view(np.uint8), np.tile([3, 4], SIZE // 2), "work of two streams")
    for each in (result, buffer):
        each.close(stream)
    other.close()


def main() -> int:
    device = Device()
    device.set_current()
    stream = device.create_stream()
    options = ProgramOptions(arch=f"compute_{device.arch}")
    kernel = Program(SOURCE, code_type="c++", options=options).compile("ptx").get_kernel("increment")
    buffers(device, kernel, stream)
    between_streams(device, kernel, stream)
    stream.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
