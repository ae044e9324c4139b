"""Streams and events: order, default-stream rules, callbacks, times."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.waiting import wait_until

from .conftest import Driver

NOT_READY = 600
HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
LEGACY, NON_BLOCKING = None, 1


@contextmanager
def hold_stream(driver: Driver, stream: ctypes.c_void_p | None) -> Iterator[None]:
    """Keep a stream busy until the block ends."""
    gate = threading.Event()
    function = HOST_FUNCTION(lambda _: (gate.wait(20), None)[1])
    driver("cuLaunchHostFunc", stream, function, None)
    try:
        yield
    finally:
        gate.set()
        driver("cuStreamSynchronize", stream)


def record_event(driver: Driver, stream: ctypes.c_void_p | None) -> ctypes.c_void_p:
    event = driver.handle("cuEventCreate", 0)
    driver("cuEventRecord", event, stream)
    return event


def wait_for_event(driver: Driver, event: ctypes.c_void_p) -> int:
    """Return the event's state, waiting for a while for it to happen."""
    wait_until(lambda: driver.result("cuEventQuery", event) != NOT_READY)
    return driver.result("cuEventQuery", event)


def query_after_delay(driver: Driver, event: ctypes.c_void_p) -> int:
    """Return the event's state after enough time for a premature completion."""
    time.sleep(0.05)
    return driver.result("cuEventQuery", event)


def test_work_of_one_stream_runs_in_order(driver: Driver) -> None:
    stream = driver.handle("cuStreamCreate", NON_BLOCKING)
    calls: list[int] = []
    functions = [HOST_FUNCTION(lambda _, n=n: calls.append(n)) for n in range(50)]
    for function in functions:
        driver("cuLaunchHostFunc", stream, function, None)
    driver("cuStreamSynchronize", stream)
    assert calls == list(range(50))


def test_non_blocking_streams_do_not_wait_for_each_other(driver: Driver) -> None:
    one, other = (driver.handle("cuStreamCreate", NON_BLOCKING) for _ in range(2))
    with hold_stream(driver, one):
        assert wait_for_event(driver, record_event(driver, other)) == 0
        assert driver.result("cuStreamQuery", one) == NOT_READY
    assert driver.result("cuStreamQuery", one) == 0


@pytest.mark.parametrize(("flags", "waits"), [(0, True), (NON_BLOCKING, False)])
def test_legacy_stream_waits_for_blocking_streams_only(driver: Driver, flags: int, waits: bool) -> None:
    stream = driver.handle("cuStreamCreate", flags)
    with hold_stream(driver, stream):
        event = record_event(driver, LEGACY)
        assert (query_after_delay if waits else wait_for_event)(driver, event) == (NOT_READY if waits else 0)
    assert wait_for_event(driver, event) == 0


@pytest.mark.parametrize(("flags", "waits"), [(0, True), (NON_BLOCKING, False)])
def test_blocking_streams_wait_for_the_legacy_stream(driver: Driver, flags: int, waits: bool) -> None:
    stream = driver.handle("cuStreamCreate", flags)
    with hold_stream(driver, LEGACY):
        event = record_event(driver, stream)
        assert (query_after_delay if waits else wait_for_event)(driver, event) == (NOT_READY if waits else 0)
    assert wait_for_event(driver, event) == 0


def test_blocking_streams_do_not_wait_for_each_other(driver: Driver) -> None:
    one, other = (driver.handle("cuStreamCreate", 0) for _ in range(2))
    with hold_stream(driver, one):
        assert wait_for_event(driver, record_event(driver, other)) == 0


def test_per_thread_stream_waits_for_legacy_stream(driver: Driver) -> None:
    legacy, own = ctypes.c_ulonglong(), ctypes.c_ulonglong()
    driver("cuStreamGetId", None, ctypes.byref(legacy))
    driver("cuStreamGetId_ptsz", None, ctypes.byref(own))
    assert legacy.value != own.value
    event = driver.handle("cuEventCreate", 0)
    with hold_stream(driver, LEGACY):
        driver("cuEventRecord_ptsz", event, None)
        assert query_after_delay(driver, event) == NOT_READY
    assert wait_for_event(driver, event) == 0


def test_stream_waits_for_event_of_other_stream(driver: Driver) -> None:
    one, other = (driver.handle("cuStreamCreate", NON_BLOCKING) for _ in range(2))
    with hold_stream(driver, one):
        driver("cuStreamWaitEvent", other, record_event(driver, one), 0)
        after = record_event(driver, other)
        assert query_after_delay(driver, after) == NOT_READY
    assert wait_for_event(driver, after) == 0


def test_events_measure_elapsed_time(driver: Driver) -> None:
    stream = driver.handle("cuStreamCreate", NON_BLOCKING)
    function = HOST_FUNCTION(lambda _: time.sleep(0.05))
    start = record_event(driver, stream)
    driver("cuLaunchHostFunc", stream, function, None)
    end = record_event(driver, stream)
    milliseconds = ctypes.c_float()
    assert driver.result("cuEventElapsedTime_v2", ctypes.byref(milliseconds), start, end) == NOT_READY
    driver("cuEventSynchronize", end)
    driver("cuEventElapsedTime", ctypes.byref(milliseconds), start, end)
    assert 49 < milliseconds.value < 2000


def test_elapsed_time_without_timing_or_record_fails(driver: Driver) -> None:
    untimed, unrecorded = driver.handle("cuEventCreate", 2), driver.handle("cuEventCreate", 0)
    driver("cuEventRecord", untimed, None)
    driver("cuEventSynchronize", untimed)
    milliseconds = ctypes.c_float()
    for event in (untimed, unrecorded):
        assert driver.result("cuEventElapsedTime_v2", ctypes.byref(milliseconds), event, event) == 400
    assert driver.result("cuEventQuery", unrecorded) == 0


def test_callback_gets_stream_and_status(driver: Driver) -> None:
    stream = driver.handle("cuStreamCreate", 0)
    calls: list[tuple[int | None, int, int | None]] = []
    callback = CALLBACK(lambda *arguments: calls.append(arguments))
    driver("cuStreamAddCallback", stream, callback, ctypes.c_void_p(77), 0)
    driver("cuStreamSynchronize", stream)
    assert calls == [(stream.value, 0, 77)]


def test_host_function_v2_accepts_both_wait_modes(driver: Driver) -> None:
    if not hasattr(driver.library, "cuLaunchHostFunc_v2"):
        pytest.skip("the header that the driver was built with does not have it")
    stream = driver.handle("cuStreamCreate", NON_BLOCKING)
    calls: list[int | None] = []
    function = HOST_FUNCTION(calls.append)
    for mode in (0, 1):
        driver("cuLaunchHostFunc_v2", stream, function, ctypes.c_void_p(mode + 1), mode)
    assert driver.result("cuLaunchHostFunc_v2", stream, function, None, 2) == 1
    driver("cuStreamSynchronize", stream)
    assert calls == [1, 2]


def test_destroyed_stream_finishes_work_but_handle_is_invalid(driver: Driver) -> None:
    stream = driver.handle("cuStreamCreate", NON_BLOCKING)
    gate, result = threading.Event(), threading.Event()
    functions = [HOST_FUNCTION(lambda _: (gate.wait(20), None)[1]), HOST_FUNCTION(lambda _: result.set())]
    for function in functions:
        driver("cuLaunchHostFunc", stream, function, None)
    driver("cuStreamDestroy_v2", stream)
    assert driver.result("cuStreamQuery", stream) == 400
    assert not result.is_set()
    gate.set()
    assert result.wait(5)
    driver("cuCtxSynchronize")


def test_stream_waits_for_value_in_memory(driver: Driver) -> None:
    stream = driver.handle("cuStreamCreate", NON_BLOCKING)
    word = driver.allocate(4)
    driver("cuMemsetD32_v2", word, 0, ctypes.c_size_t(1))
    driver("cuCtxSynchronize")
    driver("cuStreamWaitValue32_v2", stream, word, 5, 0)
    event = record_event(driver, stream)
    assert query_after_delay(driver, event) == NOT_READY
    other = driver.handle("cuStreamCreate", NON_BLOCKING)
    driver("cuStreamWriteValue32_v2", other, word, 5, 0)
    assert wait_for_event(driver, event) == 0


def test_stream_priority_is_clamped(driver: Driver) -> None:
    least, greatest = ctypes.c_int(), ctypes.c_int()
    driver("cuCtxGetStreamPriorityRange", ctypes.byref(least), ctypes.byref(greatest))
    stream = driver.handle("cuStreamCreateWithPriority", 0, -100)
    priority = ctypes.c_int()
    driver("cuStreamGetPriority", stream, ctypes.byref(priority))
    assert priority.value == greatest.value < least.value == 0


def test_streams_are_shared_by_threads(driver: Driver) -> None:
    """Many threads submit to a few streams and the legacy stream. Each operation runs once."""
    context = driver.handle("cuCtxGetCurrent")
    streams = [driver.handle("cuStreamCreate", flags) for flags in (0, NON_BLOCKING)] + [None]
    memory = driver.allocate(4 * 8)
    driver("cuMemsetD8_v2", memory, 0, ctypes.c_size_t(32))
    driver("cuCtxSynchronize")
    failures: list[int] = []

    def work(number: int) -> None:
        driver("cuCtxSetCurrent", context)
        where = ctypes.c_uint64(memory.value + 4 * number)
        for value in range(1, 101):
            failures.append(
                driver.result("cuMemsetD32Async", where, value, ctypes.c_size_t(1), streams[number % 3])
            )
        driver("cuStreamSynchronize", streams[number % 3])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(failures) == {0}
    assert driver.read(memory, 32) == (100).to_bytes(4, "little") * 8
