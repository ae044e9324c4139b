"""Streams."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from .conftest import INVALID_VALUE, NOT_READY, NOT_SUPPORTED, PER_THREAD, Hip

CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
GREATER_EQUAL, EQUAL, AND = 0, 1, 2
ALL32 = ctypes.c_uint32(0xFFFFFFFF)


@pytest.mark.parametrize("flags", [0, 1])
def test_stream_reports_its_flags(hip: Hip, flags: int) -> None:
    stream = hip.handle("hipStreamCreateWithFlags", flags)
    assert hip.asked("hipStreamGetFlags", stream) == flags
    assert hip.asked("hipStreamGetFlags_spt", stream) == flags
    hip("hipStreamDestroy", stream)


def test_stream_reports_its_priority(hip: Hip) -> None:
    least = ctypes.c_int()
    greatest = ctypes.c_int()
    hip("hipDeviceGetStreamPriorityRange", ctypes.byref(least), ctypes.byref(greatest))
    assert least.value > greatest.value
    stream = hip.handle("hipStreamCreateWithPriority", 1, greatest)
    assert hip.asked("hipStreamGetPriority", stream) == greatest.value
    assert hip.asked("hipStreamGetPriority_spt", stream) == greatest.value


def test_waiting_stream_is_not_ready(hip: Hip, stream: Any) -> None:
    word = hip.zeroed(1)
    hip("hipStreamWaitValue32", stream, word, 1, EQUAL, ALL32)
    assert hip.result("hipStreamQuery", stream) == NOT_READY
    other = hip.handle("hipStreamCreateWithFlags", 1)
    hip("hipStreamWriteValue32", other, word, 1, 0)
    hip("hipStreamSynchronize", stream)
    assert hip.result("hipStreamQuery", stream) == 0
    assert hip.result("hipStreamQuery_spt", stream) == 0


def test_stream_waits_for_64_bit_values(hip: Hip, stream: Any) -> None:
    word = hip.zeroed(2)
    hip("hipStreamWriteValue64", stream, word, ctypes.c_uint64(5 << 32 | 6), 0)
    hip(
        "hipStreamWaitValue64",
        stream,
        word,
        ctypes.c_uint64(5 << 32),
        GREATER_EQUAL,
        ctypes.c_uint64(2**64 - 1),
    )
    hip("hipStreamSynchronize_spt", stream)
    assert hip.words(word, 2) == [6, 5]


def test_wait_mask_is_supported_with_and_only(hip: Hip, stream: Any) -> None:
    word = hip.zeroed(1)
    hip("hipStreamWriteValue32", stream, word, 4, 0)
    hip("hipStreamWaitValue32", stream, word, 6, AND, 4)
    hip("hipStreamSynchronize", stream)
    assert hip.result("hipStreamWaitValue32", stream, word, 6, EQUAL, 4) == NOT_SUPPORTED


def test_callback_runs_after_queued_work(hip: Hip, stream: Any, store: Any) -> None:
    to, calls = hip.zeroed(1), []
    callback = CALLBACK(lambda at, status, data: calls.append((at, status, data)))
    assert hip.launch(store, [to, ctypes.c_uint32(3)], stream=stream) == 0
    hip("hipStreamAddCallback", stream, callback, ctypes.c_void_p(77), 0)
    hip("hipStreamSynchronize", stream)
    assert calls == [(stream.value, 0, 77)]
    assert hip.words(to, 1) == [3]


def test_compute_unit_mask_reports_all_units(hip: Hip) -> None:
    mask = (ctypes.c_uint32 * 2)(0xFF, 0)
    stream = hip.handle("hipExtStreamCreateWithCUMask", 2, mask)
    result = (ctypes.c_uint32 * 2)()
    hip("hipExtStreamGetCUMask", stream, 2, result)
    assert list(result) == [0xFFFF, 0]  # kernels run on all 16 multiprocessors
    assert (
        hip.result("hipExtStreamCreateWithCUMask", ctypes.byref(ctypes.c_void_p()), 0, mask) == INVALID_VALUE
    )


def test_per_thread_stream_work_is_done_after_its_wait(hip: Hip, store: Any) -> None:
    to = hip.zeroed(1)
    assert hip.launch(store, [to, ctypes.c_uint32(9)], stream=PER_THREAD) == 0
    hip("hipStreamSynchronize", PER_THREAD)
    assert hip.words(to, 1) == [9]
