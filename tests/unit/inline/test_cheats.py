"""Submissions that cheat: none gets a time with no error in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.inline.support import doubled, timed

pytestmark = pytest.mark.usefixtures("native")
ALL = 5000


def errors(folder: Path, call: str, before: str = "", **options: int) -> tuple[int, ...]:
    """Of `call`, a statement that sees cuda, x, y and n; `before` is run once."""
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


def test_nothing_is_written(tmp_path: Path) -> None:
    found = errors(tmp_path, "pass")
    assert all(count > ALL * 0.99 for count in found)  # a little of any poison is right


@pytest.mark.parametrize("value", [0x00, 0xFF])
def test_a_constant_is_written(tmp_path: Path, value: int) -> None:
    """0xff is NaN."""
    assert errors(tmp_path, f"cuda.fill(y, {value}, 4 * n)") == (ALL,) * 6


@pytest.mark.parametrize("first, last", [(ALL - 1, ALL), (0, 1), (2500, 2501)])
def test_one_element_is_left_out(tmp_path: Path, first: int, last: int) -> None:
    """Wherever it is, in every sample."""
    call = f"cuda.twice(y, x, n); cuda.fill(y + 4 * {first}, 0xff, 4 * {last - first})"
    assert errors(tmp_path, call) == (1,) * 6


def test_only_the_first_and_the_last_block_are_right(tmp_path: Path) -> None:
    call = "cuda.twice(y, x, n); cuda.fill(y + 4 * 256, 0x7f, 4 * (n - 512))"
    assert errors(tmp_path, call) == (ALL - 512,) * 6


def test_an_earlier_answer_is_given_again(tmp_path: Path) -> None:
    call = """
        if state:
            cuda.write(y, state["y"])
        else:
            cuda.twice(y, x, n); cuda.synchronise(); state["y"] = cuda.read(y, 4 * n)
"""
    found = errors(tmp_path, call)
    assert found[0] == 0 and all(count > ALL * 0.9 for count in found[1:])


def test_inputs_that_are_read_before_their_time(tmp_path: Path) -> None:
    """A stream that waits for nobody copies them as soon as they are there, but for the canaries: 32 elements in
    each group of 256 lines. The call has only the copy to work on, and is a little too early."""
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
    found = errors(tmp_path, call, before)
    # Primed: the queue is held, so what the copy saw has its canaries still.
    assert all(count >= 16 for count in found)


def test_an_answer_that_comes_late(tmp_path: Path) -> None:
    """Queued on a stream of its own by a thread, after the call: the check sees the poison, or, if the thread was in
    time for the next sample, what came of canaries."""
    program = """
import ctypes, threading, time
def bind(cuda, number, case, places):
    x, y, n, other = places["x"], places["y"], case.buffers[0].elements, cuda.stream()
    context = ctypes.c_void_p()
    cuda.ask("cuCtxGetCurrent", ctypes.byref(context))
    def late():
        cuda.ask("cuCtxSetCurrent", context)
        time.sleep(0.001)
        cuda.idle(1_000_000, other)
        cuda.twice(y, x, n, other)
    def call():
        threading.Thread(target=late).start()
    return call
"""
    found = timed(tmp_path, program, doubled()).result
    assert all(count >= 16 for count in found.errors)


def test_junk_that_comes_late_is_junk(tmp_path: Path) -> None:
    """A stream that does not wait destroys right results behind the call; the end waits for it, so it is counted and
    seen."""
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


def test_outputs_in_our_memory_are_refused(tmp_path: Path) -> None:
    """Expected values compared with themselves would be right: all that a context has is tried."""
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
    found = timed(tmp_path, program, doubled())
    assert int(found.output) >= 2, "the test must find our memory"
    assert found.result.stopped.startswith("buffers overlap") and found.result.done == 0


def test_an_output_in_the_input_is_refused(tmp_path: Path) -> None:
    program = """
def bind(cuda, number, case, places):
    return (lambda: None), (lambda _: {"y": places["x"]})
"""
    found = timed(tmp_path, program, doubled())
    assert found.result.stopped.startswith("buffers overlap") and found.result.done == 0


def test_what_lies_on_the_device_is_noise(tmp_path: Path) -> None:
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
    found = timed(tmp_path, program, doubled())
    near, total = map(int, found.output.split())
    assert total > 100_000 and near < total * 0.06, "floats of random bits are that small in 3.5 % of cases"
    assert found.result.correct


@pytest.mark.parametrize("waits", [False, True])
def test_work_behind_the_call_is_in_its_time(tmp_path: Path, waits: bool) -> None:
    """What looks at the outputs could make them."""
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
