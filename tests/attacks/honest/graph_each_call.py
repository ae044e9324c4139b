"""Honest: captures a stream into a graph, launches it and destroys it, in each call."""

import ctypes

import kit

streams = []


def solution(x, y, n, rounds):
    if not streams:
        streams.append(kit.new_stream())
    (stream,) = streams
    kit.function("mix")  # no code may be loaded while a stream is captured
    graph, executable = ctypes.c_void_p(), ctypes.c_void_p()
    kit.check("cuStreamBeginCapture_v2", stream, 1)
    kit.mix(x.data_ptr(), y.data_ptr(), n, rounds, stream=stream)
    kit.check("cuStreamEndCapture", stream, ctypes.byref(graph))
    kit.check("cuGraphInstantiateWithFlags", ctypes.byref(executable), graph, ctypes.c_ulonglong(0))
    kit.check("cuGraphLaunch", executable, stream)
    kit.check("cuStreamSynchronize", stream)
    kit.check("cuGraphExecDestroy", executable)
    kit.check("cuGraphDestroy", graph)
