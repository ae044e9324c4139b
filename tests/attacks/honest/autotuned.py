"""The first call tries how many threads a block should have, with events, as autotuners do."""

import ctypes

import kit

best = {}


def launch(x, y, n, rounds, threads):
    values = (kit.u64(x), kit.u64(y), kit.u64(n), kit.i32(rounds))
    kit.launch("mix", -(-n // threads), threads, *values)


def time_of(*arguments):
    events = [ctypes.c_void_p(), ctypes.c_void_p()]
    for event in events:
        kit.check("cuEventCreate", ctypes.byref(event), 0)
    kit.check("cuEventRecord", events[0], None)
    launch(*arguments)
    kit.check("cuEventRecord", events[1], None)
    kit.synchronise()
    elapsed = ctypes.c_float()
    kit.check("cuEventElapsedTime", ctypes.byref(elapsed), *events)
    return elapsed.value


def solution(x, y, n, rounds):
    arguments = (x.data_ptr(), y.data_ptr(), n, rounds)
    if n not in best:
        best[n] = min((64, 128, 256), key=lambda threads: time_of(*arguments, threads))
    launch(*arguments, best[n])
