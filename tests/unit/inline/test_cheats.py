"""Submissions that cheat: every result counts wrong elements."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.inline.support import doubled, timed

pytestmark = pytest.mark.usefixtures("native")
ALL = 5000


def errors(folder: Path, call: str, before: str = "", **options: int) -> tuple[int, ...]:
    """The errors of a submission that runs `call`, a statement with cuda, x, y and n; `before` runs once."""
    program = f"""
def bind(cuda, number, case, places):
    x, y, n = places["x"], places["y"], case.buffers[0].elements
    state = {{}}
    {before or "pass"}
    def call():
        {call}
    return call
"""
    return timed(folder, program, doubled(), **options).result.errors


def test_unwritten_output_is_wrong(tmp_path: Path) -> None:
    outcome = errors(tmp_path, "pass")
    assert all(count > ALL * 0.99 for count in outcome)  # a little of any poison is right


@pytest.mark.parametrize("value", [0x00, 0xFF])
def test_constant_output_is_wrong(tmp_path: Path, value: int) -> None:
    """0xff is NaN."""
    assert errors(tmp_path, f"cuda.fill(y, {value}, 4 * n)") == (ALL,) * 6


@pytest.mark.parametrize("first, last", [(ALL - 1, ALL), (0, 1), (2500, 2501)])
def test_missing_element_is_wrong(tmp_path: Path, first: int, last: int) -> None:
    """The wrong element is found at each place, in every sample."""
    call = f"cuda.twice(y, x, n); cuda.fill(y + 4 * {first}, 0xff, 4 * {last - first})"
    assert errors(tmp_path, call) == (1,) * 6


def test_output_right_only_at_both_ends_is_wrong(tmp_path: Path) -> None:
    call = "cuda.twice(y, x, n); cuda.fill(y + 4 * 256, 0x7f, 4 * (n - 512))"
    assert errors(tmp_path, call) == (ALL - 512,) * 6


def test_repeated_earlier_answer_is_wrong(tmp_path: Path) -> None:
    call = """
        if state:
            cuda.write(y, state["y"])
        else:
            cuda.twice(y, x, n); cuda.synchronise(); state["y"] = cuda.read(y, 4 * n)
"""
    outcome = errors(tmp_path, call)
    assert outcome[0] == 0 and all(count > ALL * 0.9 for count in outcome[1:])


def test_inputs_copied_by_a_stream_that_does_not_wait_are_ready_after_the_probe(tmp_path: Path) -> None:
    """A non-blocking stream copies the inputs, and the call works on this copy alone. While the queue is held, the copy
    has the canaries: 32 elements in each group of 256 lines.
    """
    before = """
    import ctypes, threading
    early, other = cuda.allocate(4 * n), cuda.stream()
    over = threading.Event()
"""
    call = """
        if "copied" not in state:
            state["copied"] = True
        cuda.ask("cuMemcpyDtoDAsync_v2", ctypes.c_uint64(early), ctypes.c_uint64(x), ctypes.c_size_t(4 * n), other)
        cuda.ask("cuStreamSynchronize", other)
        cuda.twice(y, early, n)
"""
    outcome = errors(tmp_path, call, before)
    assert outcome[0] and not any(outcome[1:])


def test_late_answer_is_wrong(tmp_path: Path) -> None:
    """A thread queues the work on this call's inputs after the call, on another stream. The check sees the poison, or
    results of an earlier call."""
    program = """
import ctypes, threading, time
def bind(cuda, number, case, places):
    x, y, n, other = places["x"], places["y"], case.buffers[0].elements, cuda.stream()
    early = cuda.allocate(4 * n)
    context = ctypes.c_void_p()
    cuda.ask("cuCtxGetCurrent", ctypes.byref(context))
    def late():
        cuda.ask("cuCtxSetCurrent", context)
        time.sleep(0.2)
        cuda.twice(y, early, n, other)
    def call():
        cuda.ask("cuMemcpyDtoDAsync_v2", ctypes.c_uint64(early), ctypes.c_uint64(x), ctypes.c_size_t(4 * n), None)
        threading.Thread(target=late).start()
    return call
"""
    outcome = timed(tmp_path, program, doubled()).result
    assert not outcome.correct and any(outcome.errors[1:])


def test_late_garbage_is_wrong(tmp_path: Path) -> None:
    """A non-blocking stream destroys right results after the call. The end event waits for that stream, so the time
    includes the work and the check sees the damage."""
    before = """
    import ctypes
    other, done = cuda.stream(), ctypes.c_void_p()
    cuda.ask("cuEventCreate", ctypes.byref(done), 2)
"""
    call = """
        cuda.twice(y, x, n)
        cuda.ask("cuEventRecord", done, None)
        cuda.ask("cuStreamWaitEvent", other, done, 0)
        cuda.idle(5_000_000, other)
        cuda.fill(y, 0xff, 4 * n, other)
"""
    assert errors(tmp_path, call, before) == (ALL,) * 6


def test_outputs_in_the_loops_memory_are_refused(tmp_path: Path) -> None:
    """Returned memory of the expected values would pass. The submission tries all memory of the context."""
    program = """
import ctypes
def bind(cuda, number, case, places):
    n = case.buffers[0].elements
    mine = cuda.allocate(4)
    base, size = ctypes.c_uint64(), ctypes.c_size_t()
    ours = []
    at = mine & ~0x1ff
    for _ in range(1 << 18):                     # the heap below what was allocated last
        at -= 512
        if cuda.library.cuMemGetAddressRange_v2(ctypes.byref(base), ctypes.byref(size), ctypes.c_uint64(at)) == 0:
            if base.value not in (*ours, *places.values()) and size.value >= 4 * n:
                ours.append(base.value)
            at = base.value
    print(len(ours))
    tries = list(ours)
    return (lambda: None), (lambda _: {"y": tries.pop()})
"""
    outcome = timed(tmp_path, program, doubled())
    assert int(outcome.output) >= 2, "the test must find our memory"
    assert outcome.result.stopped.startswith("buffers overlap") and outcome.result.done == 0


def test_output_overlapping_an_input_is_refused(tmp_path: Path) -> None:
    program = """
def bind(cuda, number, case, places):
    return (lambda: None), (lambda _: {"y": places["x"]})
"""
    outcome = timed(tmp_path, program, doubled())
    assert outcome.result.stopped.startswith("buffers overlap") and outcome.result.done == 0


def test_secrets_on_the_device_look_like_noise(tmp_path: Path) -> None:
    """No expected value and no input is anywhere in device memory before its sample."""
    program = """
import ctypes, struct, sys
def bind(cuda, number, case, places):
    n = case.buffers[0].elements
    base, size = ctypes.c_uint64(), ctypes.c_size_t()
    seen, near, total = [], 0, 0
    at = cuda.allocate(4) & ~0x1ff
    for _ in range(1 << 18):
        at -= 512
        if cuda.library.cuMemGetAddressRange_v2(ctypes.byref(base), ctypes.byref(size), ctypes.c_uint64(at)) == 0:
            at = base.value
            if base.value in places.values() or base.value in seen:
                continue
            seen.append(base.value)
            data = cuda.read(base.value, min(size.value, 1 << 20) & ~7)
            for (value,) in struct.iter_unpack("<f", data):
                total += 1
                near += 0.01 < abs(value) < 5    # what standard normal numbers are
    print(near, total)
    return lambda: cuda.twice(places["y"], places["x"], n)
"""
    outcome = timed(tmp_path, program, doubled())
    near, total = map(int, outcome.output.split())
    assert total > 100_000 and near < total * 0.06, "floats of random bits are that small in 3.5 % of cases"
    assert outcome.result.correct


@pytest.mark.parametrize("waits", [False, True])
def test_work_queued_behind_the_call_is_timed(tmp_path: Path, waits: bool) -> None:
    """Code that locates the outputs could also compute them."""
    program = f"""
def bind(cuda, number, case, places):
    def look(returned):
        cuda.idle(3_000_000)
        cuda.twice(places["y"], places["x"], case.buffers[0].elements)
        return places
    return (lambda: cuda.synchronise() if {waits} else None), look
"""
    result = timed(tmp_path, program, doubled()).result
    assert result.correct and result.full and min(result.times_us) >= 3000
    assert (result.unprimed > 0) == waits
