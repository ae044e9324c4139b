"""Events."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from .conftest import INVALID_VALUE, NOT_READY, Hip

INVALID_HANDLE = 400
ALL32 = ctypes.c_uint32(0xFFFFFFFF)


@pytest.mark.parametrize("flags", [0, 1, 2, 0x20000000, 0x40000000, 0x80000000, 0x80000001])
def test_event_cache_flags_are_accepted(hip: Hip, flags: int, stream: Any) -> None:
    event = hip.handle("hipEventCreateWithFlags", ctypes.c_uint(flags))
    hip("hipEventRecord", event, stream)
    hip("hipEventSynchronize", event)
    hip("hipEventDestroy", event)


@pytest.mark.parametrize("flags", [0xC0000000, 0x100])
def test_unknown_event_flags_are_refused(hip: Hip, flags: int) -> None:
    event = ctypes.c_void_p()
    assert hip.result("hipEventCreateWithFlags", ctypes.byref(event), ctypes.c_uint(flags)) == INVALID_VALUE


def test_event_completes_when_its_stream_reaches_it(hip: Hip, stream: Any) -> None:
    word, event = hip.zeroed(1), hip.handle("hipEventCreate")
    hip("hipStreamWaitValue32", stream, word, 1, 1, ALL32)
    hip("hipEventRecord", event, stream)
    assert hip.result("hipEventQuery", event) == NOT_READY
    hip("hipStreamWriteValue32", hip.handle("hipStreamCreateWithFlags", 1), word, 1, 0)
    hip("hipEventSynchronize", event)
    assert hip.result("hipEventQuery", event) == 0


def test_elapsed_time_between_events_is_positive(hip: Hip, stream: Any) -> None:
    begin, end, took = hip.handle("hipEventCreate"), hip.handle("hipEventCreate"), ctypes.c_float(-1)
    assert hip.result("hipEventElapsedTime", ctypes.byref(took), begin, end) == INVALID_HANDLE
    hip("hipEventRecord", begin, stream)
    hip("hipEventRecord", end, stream)
    hip("hipEventSynchronize", end)
    hip("hipEventElapsedTime", ctypes.byref(took), begin, end)
    assert took.value >= 0


@pytest.mark.parametrize("call", ["hipStreamWaitEvent", "hipStreamWaitEvent_spt"])
def test_stream_waits_for_event_of_another_stream(hip: Hip, stream: Any, call: str) -> None:
    word, event = hip.zeroed(1), hip.handle("hipEventCreate")
    other = hip.handle("hipStreamCreateWithFlags", 1)
    hip("hipStreamWaitValue32", other, word, 1, 1, ALL32)
    hip("hipEventRecord", event, other)
    hip(call, stream, event, 0)
    assert hip.result("hipStreamQuery", stream) == NOT_READY
    hip("hipStreamWriteValue32", hip.handle("hipStreamCreateWithFlags", 1), word, 1, 0)
    hip("hipStreamSynchronize", stream)
