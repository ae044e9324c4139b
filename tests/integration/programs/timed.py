"""A grader's timing loop round a submission: python timed.py KIT LOOP SUBMISSION

The loops make the driver calls of five graders, in their order. The submissions are honest ones and attacks.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Callable

sys.path.insert(0, sys.argv[1])

import kit

N = 1 << 10
ROUNDS = 16
TRIALS = 6
Call = Callable[[], None]


class Work:
    """The grader's buffers and events."""

    def __init__(self) -> None:
        device, context = ctypes.c_int(), ctypes.c_void_p()
        kit.check("cuInit", 0)
        kit.check("cuDeviceGet", ctypes.byref(device), 0)
        kit.check("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        kit.check("cuCtxSetCurrent", context)
        self.x, self.y, self.spare, self.cache = (kit.allocate(4 * N) for _ in range(4))
        kit.fill(self.x, 1, N)
        self.events: list[ctypes.c_void_p] = []

    def event(self) -> ctypes.c_void_p:
        event = ctypes.c_void_p()
        kit.check("cuEventCreate", ctypes.byref(event), 0)
        self.events.append(event)
        return event

    def clear(self) -> None:
        kit.fill(self.cache, 0, N)


def record(event: ctypes.c_void_p, stream: ctypes.c_void_p | None = None) -> None:
    kit.check("cuEventRecord", event, stream)


def elapsed(start: ctypes.c_void_p, end: ctypes.c_void_p) -> float:
    milliseconds = ctypes.c_float()
    kit.check("cuEventElapsedTime", ctypes.byref(milliseconds), start, end)
    return milliseconds.value


# --- loops ---------------------------------------------------------------------------------------------------


def do_bench(work: Work, call: Call) -> None:
    """Triton: an estimate of five calls, a warm-up, all windows queued, and then all times read."""
    call()
    kit.synchronise()
    start, end = work.event(), work.event()
    record(start)
    for _ in range(5):
        work.clear()
        call()
    record(end)
    kit.synchronise()
    elapsed(start, end)
    pairs = [(work.event(), work.event()) for _ in range(TRIALS)]
    for _ in range(3):
        call()
    for start, end in pairs:
        work.clear()
        record(start)
        call()
        record(end)
    kit.synchronise()
    for start, end in pairs:
        elapsed(start, end)


def kernelbot(work: Work, call: Call, *, warm_ups: int = 1) -> None:
    """GPU MODE: one checked call; per trial new events, a flush, and a wait for the device."""
    for _ in range(warm_ups):
        call()
        kit.synchronise()
    for _ in range(TRIALS):
        kit.synchronise()
        start, end = work.event(), work.event()
        work.clear()
        record(start)
        call()
        record(end)
        kit.synchronise()
        elapsed(start, end)
        for _ in range(2):
            kit.check("cuEventDestroy_v2", work.events.pop())


def kernelbench(work: Work, call: Call) -> None:
    """KernelBench: the same, with warm-ups that wait each."""
    kernelbot(work, call, warm_ups=3)


def pygpubench(work: Work, call: Call) -> None:
    """Empty pairs first; then copies in, flush, window and check, and no wait before the end."""
    pairs = [(work.event(), work.event()) for _ in range(TRIALS)]
    for start, end in pairs:
        record(start)
        record(end)
    kit.synchronise()
    for start, end in pairs:
        elapsed(start, end)
    call()
    kit.synchronise()
    for start, end in pairs:
        kit.copy(work.x, work.spare, 4 * N)
        work.clear()
        record(start)
        call()
        record(end)
        kit.mix(work.y, work.spare, N, 1)
    kit.check("cuEventSynchronize", pairs[-1][1])
    kit.read(work.y, 4)
    for start, end in pairs:
        elapsed(start, end)


def torch_benchmark(_: Work, call: Call) -> None:
    """torch.utils.benchmark: the host's clock between two waits."""
    call()
    for _ in range(TRIALS):
        kit.synchronise()
        begin = time.perf_counter()
        for _ in range(3):
            call()
        kit.synchronise()
        print(time.perf_counter() - begin)


# --- submissions ---------------------------------------------------------------------------------------------


def honest(work: Work) -> Call:
    return lambda: kit.mix(work.x, work.y, N, ROUNDS)


def joined(work: Work) -> Call:
    """Works on a stream of its own, which waits for the caller's, and the caller's for it."""
    side, fork, join = kit.new_stream(), kit.new_event(), kit.new_event()

    def call() -> None:
        record(fork)
        kit.check("cuStreamWaitEvent", side, fork, 0)
        kit.mix(work.x, work.y, N, ROUNDS, side)
        record(join, side)
        kit.check("cuStreamWaitEvent", None, join, 0)

    return call


def graph(work: Work) -> Call:
    """Replays a graph, which stream capture has recorded."""
    stream, graph, executable = kit.new_stream(), ctypes.c_void_p(), ctypes.c_void_p()
    kit.function("mix")
    kit.check("cuStreamBeginCapture_v2", stream, 0)
    kit.mix(work.x, work.y, N, ROUNDS, stream)
    kit.check("cuStreamEndCapture", stream, ctypes.byref(graph))
    kit.check("cuGraphInstantiateWithFlags", ctypes.byref(executable), graph, ctypes.c_uint64(0))
    return lambda: kit.check("cuGraphLaunch", executable, None)


def unjoined(work: Work) -> Call:
    side = kit.new_stream()
    return lambda: kit.mix(work.x, work.y, N, ROUNDS, side)


def unforked(work: Work) -> Call:
    """Its stream begins at once, beside the flush; the caller's waits for it."""
    side, join = kit.new_stream(), kit.new_event()

    def call() -> None:
        kit.mix(work.x, work.y, N, ROUNDS, side)
        record(join, side)
        kit.check("cuStreamWaitEvent", None, join, 0)

    return call


def first_calls(work: Work, number: int, then: Call) -> Call:
    calls = 0

    def call() -> None:
        nonlocal calls
        calls += 1
        if calls <= number:
            kit.mix(work.x, work.y, N, ROUNDS)
        else:
            then()

    return call


def cached(work: Work) -> Call:
    """Computes in the first call alone."""
    return first_calls(work, 1, lambda: None)


def copied(work: Work) -> Call:
    """Keeps the first answer, and copies it."""
    return first_calls(work, 1, lambda: kit.copy(work.y, work.spare, 4 * N))


def again(work: Work) -> Call:
    """Records every event of the grader again behind its work."""

    def call() -> None:
        kit.mix(work.x, work.y, N, ROUNDS)
        for event in work.events:
            record(event)

    return call


def thread(work: Work) -> Call:
    """Leaves its work to a thread that begins a moment later."""
    side = kit.new_stream()
    kit.function("mix")

    def later() -> None:
        time.sleep(0.002)
        kit.mix(work.x, work.y, N, ROUNDS, side)

    return lambda: threading.Thread(target=later).start()


def host(work: Work) -> Call:
    """Ends with a host function."""
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)
    work.kept = function  # type: ignore[attr-defined]

    def call() -> None:
        kit.mix(work.x, work.y, N, ROUNDS)
        kit.check("cuLaunchHostFunc", None, function, None)

    return call


def loads(work: Work) -> Call:
    """Loads its code in each call."""

    def call() -> None:
        kit._functions.clear()
        kit._modules.clear()
        kit.mix(work.x, work.y, N, ROUNDS)

    return call


LOOPS = {each.__name__: each for each in (do_bench, kernelbot, kernelbench, pygpubench, torch_benchmark)}
SUBMISSIONS = {
    each.__name__: each
    for each in (
        honest, joined, graph, unjoined, unforked, cached, copied, again, thread, host, loads,
    )
}  # fmt: skip


def main() -> None:
    work = Work()
    LOOPS[sys.argv[2]](work, SUBMISSIONS[sys.argv[3]](work))
    kit.synchronise()


if __name__ == "__main__":
    main()
