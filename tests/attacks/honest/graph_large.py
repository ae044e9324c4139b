"""A CUDA graph of 512 kernels: one launch for the host, too much for a queue that holds each kernel."""

import ctypes

import kit

KERNELS = 512
made = {}


def capture(x, y, n, rounds):
    stream, graph, executable = kit.new_stream(), ctypes.c_void_p(), ctypes.c_void_p()
    kit.function("mix")
    kit.check("cuStreamBeginCapture_v2", stream, 1)
    part = -(-n // KERNELS)
    for first in range(0, n, part):
        kit.mix(x + 4 * first, y + 4 * first, min(part, n - first), rounds, stream)
    kit.check("cuStreamEndCapture", stream, ctypes.byref(graph))
    kit.check("cuGraphInstantiateWithFlags", ctypes.byref(executable), graph, ctypes.c_uint64(0))
    return executable


def solution(x, y, n, rounds):
    key = (x.data_ptr(), y.data_ptr(), n, rounds)
    if key not in made:
        made[key] = capture(*key)
    kit.check("cuGraphLaunch", made[key], None)
