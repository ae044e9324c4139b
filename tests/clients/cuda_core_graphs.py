"""cuda.core's graphs: captured by a builder, defined node by node, changed and launched again."""

from __future__ import annotations

import sys

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch
from cuda.core.graph import GraphDefinition, KernelNode

SOURCE = """
extern "C" __global__ void add(int *x, int much)
{
    x[threadIdx.x] += much;
}
"""
COUNT = 64
CONFIG = LaunchConfig(grid=1, block=COUNT)


def equal(found, expected, what: str) -> None:
    if not np.array_equal(found, expected):
        raise SystemExit(f"{what}: {found} instead of {expected}")


def built(device: Device, stream, kernel, numbers) -> None:
    """A builder forks into two arrays, joins, and calls the host."""
    (left, x), (right, y) = numbers
    called = []
    builder = device.create_graph_builder().begin_building()
    launch(builder, CONFIG, kernel, left, np.int32(1))
    first, second = builder.split(2)
    launch(first, CONFIG, kernel, left, np.int32(10))
    launch(second, CONFIG, kernel, right, np.int32(20))
    builder = first.join(first, second)
    launch(builder, CONFIG, kernel, right, np.int32(300))
    builder.callback(lambda: called.append(int(y[0])))
    graph = builder.end_building().complete()
    graph.upload(stream)
    for _ in range(2):
        graph.launch(stream)
    stream.sync()
    equal(x, np.full(COUNT, 22), "the left side of a fork")
    equal(y, np.full(COUNT, 640), "the right side of a fork")
    equal(called, [320, 640], "what the host was called with")
    graph.close()


def defined(stream, kernel, numbers) -> None:
    """memset, copy and kernels, by their dependencies; then the same with another number."""

    def definition(much: int) -> GraphDefinition:
        (left, _), (right, _) = numbers
        graph = GraphDefinition()
        zeroed = graph.memset(left, 0, left.size)
        added = zeroed.launch(CONFIG, kernel, left, np.int32(much))
        copied = added.memcpy(right, left, left.size)
        copied.launch(CONFIG, kernel, right, np.int32(1))
        equal(len(graph.nodes()), 4, "nodes")
        equal(len(graph.edges()), 3, "edges")
        equal([type(node) for node in copied.pred], [KernelNode], "what the copy waits for")
        return graph

    (_, x), (_, y) = numbers
    graph = definition(5).instantiate()
    graph.launch(stream)
    stream.sync()
    equal((x[0], y[COUNT - 1]), (5, 6), "a defined graph")
    graph.update(definition(7))
    graph.launch(stream)
    stream.sync()
    equal((x[0], y[COUNT - 1]), (7, 8), "an updated graph")
    graph.close()


def main() -> int:
    device = Device()
    device.set_current()
    stream = device.create_stream()
    options = ProgramOptions(arch=f"compute_{device.arch}")
    kernel = Program(SOURCE, code_type="c++", options=options).compile("ptx").get_kernel("add")
    memory = LegacyPinnedMemoryResource()
    buffers = [memory.allocate(4 * COUNT, stream=stream) for _ in range(2)]
    numbers = [(buffer, np.from_dlpack(buffer).view(np.int32)) for buffer in buffers]
    for _, array in numbers:
        array[:] = 0
    built(device, stream, kernel, numbers)
    defined(stream, kernel, numbers)
    for buffer in buffers:
        buffer.close(stream)
    stream.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
