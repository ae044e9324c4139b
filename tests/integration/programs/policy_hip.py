"""policy_hip.py CALL: enters the phase of timing, makes a HIP call, and prints the library's code and its effect."""

from __future__ import annotations

import ctypes
import sys

hip, process = ctypes.CDLL("libamdhip64.so.5"), ctypes.CDLL(None)
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
called: list[int] = []
callback = CALLBACK(lambda *_: called.append(1))
memory, graph, node, context = (ctypes.c_void_p() for _ in range(4))
events = [ctypes.c_void_p() for _ in range(2)]
streams = [ctypes.c_void_p() for _ in range(2)]


class HostNode(ctypes.Structure):
    _fields_ = (("function", ctypes.c_void_p), ("data", ctypes.c_void_p))


def record_events(first: int, second: int) -> int:
    assert hip.hipEventRecord(events[0], streams[first]) == 0
    return int(hip.hipEventRecord(events[1], streams[second]))


CALLS = {
    "callback": lambda: hip.hipStreamAddCallback(streams[0], callback, None, 0),
    "host_node": lambda: hip.hipGraphAddHostNode(
        ctypes.byref(node),
        graph,
        None,
        0,
        ctypes.byref(HostNode(ctypes.cast(callback, ctypes.c_void_p).value, None)),
    ),
    "profiler": hip.hipProfilerStart,
    "reset": hip.hipDeviceReset,
    "context": lambda: hip.hipCtxCreate(ctypes.byref(context), 0, 0),
    "event_elsewhere": lambda: record_events(0, 1),
    "honest_event": lambda: record_events(0, 0),
}

assert hip.hipInit(0) == 0
assert hip.hipMalloc(ctypes.byref(memory), ctypes.c_size_t(64)) == 0
assert hip.hipGraphCreate(ctypes.byref(graph), 0) == 0
for event in events:
    assert hip.hipEventCreate(ctypes.byref(event)) == 0
for stream in streams:
    assert hip.hipStreamCreate(ctypes.byref(stream)) == 0
if hasattr(process, "neutrino_phase"):
    assert process.neutrino_phase(b"timing", None) == 0
code = CALLS[sys.argv[1]]()
assert hip.hipDeviceSynchronize() == 0
lost = hip.hipMemset(memory, 0, ctypes.c_size_t(64)) != 0
print(code, int(bool(called) or lost or bool(node.value) or bool(context.value)))
