"""Events: flags, times, contexts, events over whole contexts. Codes are those of a GPU's driver."""

from __future__ import annotations

import ctypes
import threading
from typing import Any

import pytest

from .conftest import Driver
from .test_streams import hold_stream, query_after_delay, record_event, wait_for_event

NON_BLOCKING = 1


def out() -> Any:
    return ctypes.byref(ctypes.create_string_buffer(64))


@pytest.mark.parametrize("flags", range(10))
def test_event_flags_are_checked(driver: Driver, flags: int) -> None:
    """An interprocess event has no time."""
    allowed = flags in (0, 1, 2, 3, 6, 7)
    assert driver.result("cuEventCreate", out(), flags) == (0 if allowed else 1)
    assert driver.result("cuEventCreate", None, flags) == 1


def test_null_event_is_refused(driver: Driver) -> None:
    for name in ("cuEventQuery", "cuEventSynchronize", "cuEventDestroy_v2", "cuEventDestroy"):
        assert driver.result(name, None) == 400
    assert (
        driver.result("cuEventRecord", None, None) == driver.result("cuStreamWaitEvent", None, None, 0) == 400
    )


@pytest.mark.parametrize("name", ["cuEventElapsedTime", "cuEventElapsedTime_v2"])
def test_elapsed_time_without_both_times_fails(driver: Driver, name: str) -> None:
    stream = driver.handle("cuStreamCreate", NON_BLOCKING)
    start, untimed, unrecorded = (
        record_event(driver, stream),
        driver.handle("cuEventCreate", 2),
        driver.handle("cuEventCreate", 0),
    )
    driver("cuEventRecord", untimed, None)
    driver("cuEventSynchronize", start)
    milliseconds = ctypes.c_float(-7)

    def elapsed(one: Any, other: Any) -> int:
        return driver.result(name, ctypes.byref(milliseconds), one, other)

    with hold_stream(driver, stream):
        end = record_event(driver, stream)
        assert elapsed(start, end) == elapsed(end, start) == elapsed(end, end) == 600
        assert elapsed(end, untimed) == elapsed(end, unrecorded) == 400, "INVALID_HANDLE, not NOT_READY"
    driver("cuEventSynchronize", end)
    for event in (untimed, unrecorded, None):
        assert elapsed(event, end) == elapsed(start, event) == 400
    assert milliseconds.value == -7
    assert driver.result(name, None, start, end) == 1
    assert elapsed(start, end) == 0 and milliseconds.value > 0
    assert elapsed(end, start) == 0 and milliseconds.value < 0


def test_ipc_event_handle_is_refused(driver: Driver) -> None:
    handle = ctypes.create_string_buffer(64)
    for flags, result in ((0, 400), (2, 400), (6, 801)):
        assert driver.result("cuIpcGetEventHandle", handle, driver.handle("cuEventCreate", flags)) == result
    assert driver.result("cuIpcGetEventHandle", handle, None) == 400
    assert driver.result("cuIpcGetEventHandle", None, driver.handle("cuEventCreate", 6)) == 1
    assert handle.raw == bytes(64)


def test_event_is_recorded_in_own_context_and_awaited_in_any(driver: Driver) -> None:
    event, stream = driver.handle("cuEventCreate", 0), driver.handle("cuStreamCreate", NON_BLOCKING)
    other = driver.handle("cuCtxCreate_v4", None, 0, 0)
    foreign = driver.handle("cuStreamCreate", NON_BLOCKING)
    assert (
        driver.result("cuEventRecord", event, foreign) == driver.result("cuEventRecord", event, None) == 400
    )
    with hold_stream(driver, stream):
        driver("cuEventRecord", event, stream)
        driver("cuStreamWaitEvent", foreign, event, 0)
        assert driver.result("cuStreamQuery", foreign) == 600
    driver("cuStreamSynchronize", foreign)
    after = record_event(driver, foreign)
    driver("cuEventSynchronize", after)
    for name in ("cuEventElapsedTime", "cuEventElapsedTime_v2"):
        assert driver.result(name, out(), event, after) == 400, "no elapsed time across contexts"
    driver("cuCtxDestroy_v2", other)


def test_context_event_waits_for_all_streams(driver: Driver) -> None:
    context, event = driver.handle("cuCtxGetCurrent"), driver.handle("cuEventCreate", 0)
    one, other = (driver.handle("cuStreamCreate", NON_BLOCKING) for _ in range(2))
    with hold_stream(driver, one):
        driver("cuCtxRecordEvent", context, event)
        assert query_after_delay(driver, event) == 600
        assert wait_for_event(driver, record_event(driver, other)) == 0
    assert wait_for_event(driver, event) == 0


def test_context_wait_blocks_all_streams(driver: Driver) -> None:
    context, early = driver.handle("cuCtxGetCurrent"), driver.handle("cuStreamCreate", NON_BLOCKING)
    source = driver.handle("cuStreamCreate", NON_BLOCKING)
    with hold_stream(driver, source):
        driver("cuCtxWaitEvent", context, record_event(driver, source))
        late = driver.handle("cuStreamCreate", NON_BLOCKING)
        events = [record_event(driver, stream) for stream in (early, late)]
        assert [query_after_delay(driver, event) for event in events] == [600, 600]
    assert [wait_for_event(driver, event) for event in events] == [0, 0]
    driver("cuCtxWaitEvent", context, driver.handle("cuEventCreate", 0))


def test_context_event_calls_check_arguments(driver: Driver) -> None:
    context = driver.handle("cuCtxGetCurrent")
    assert (
        driver.result("cuCtxRecordEvent", context, None)
        == driver.result("cuCtxWaitEvent", context, None)
        == 400
    )
    other = driver.handle("cuCtxCreate_v4", None, 0, 0)
    foreign = driver.handle("cuEventCreate", 0)
    assert driver.result("cuCtxRecordEvent", context, foreign) == 400
    assert driver.result("cuCtxWaitEvent", context, foreign) == 0
    driver("cuCtxDestroy_v2", other)


@pytest.mark.parametrize("mode", range(3))
@pytest.mark.parametrize("name", ["cuCtxRecordEvent", "cuCtxWaitEvent"])
def test_context_event_invalidates_captures(driver: Driver, name: str, mode: int) -> None:
    context, event = driver.handle("cuCtxGetCurrent"), record_event(driver, None)
    driver("cuEventSynchronize", event)
    stream = driver.handle("cuStreamCreate", NON_BLOCKING)
    driver("cuStreamBeginCapture_v2", stream, mode)
    assert driver.result(name, context, event) == 900
    assert driver.result("cuStreamEndCapture", stream, out()) == 901


def test_event_recorded_by_many_threads_stays_consistent(driver: Driver) -> None:
    """Several threads record, query and wait for one event."""
    context, event = driver.handle("cuCtxGetCurrent"), driver.handle("cuEventCreate", 0)
    streams = [driver.handle("cuStreamCreate", flags) for flags in (0, 1, 1)]
    codes: set[int] = set()

    def run(stream: Any) -> None:
        driver("cuCtxSetCurrent", context)
        for _ in range(200):
            codes.add(driver.result("cuEventRecord", event, stream))
            codes.add(driver.result("cuStreamWaitEvent", streams[0], event, 0))
            codes.add(driver.result("cuEventQuery", event))
            codes.add(driver.result("cuEventSynchronize", event))

    threads = [threading.Thread(target=run, args=(stream,)) for stream in streams]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes <= {0, 600}
