"""Captures a graph in the first call, and launches it in every one."""

import ctypes

import kit

made = {}


def capture(x, y, n, rounds):
    stream, graph, executable = kit.new_stream(), ctypes.c_void_p(), ctypes.c_void_p()
    kit.function("mix")
    kit.check("cuStreamBeginCapture_v2", stream, 1)
    kit.mix(x, y, n, rounds, stream)
    kit.check("cuStreamEndCapture", stream, ctypes.byref(graph))
    kit.check("cuGraphInstantiateWithFlags", ctypes.byref(executable), graph, ctypes.c_uint64(0))
    return executable


def solution(x, y, n, rounds):
    key = (x.data_ptr(), y.data_ptr(), n, rounds)
    if key not in made:
        made[key] = capture(*key)
    kit.check("cuGraphLaunch", made[key], None)
