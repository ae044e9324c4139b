"""Stream capture."""

from __future__ import annotations

import ctypes
from typing import Any

from .conftest import NOT_READY, Hip

NONE, ACTIVE = 0, 1
RELAXED = 2
ILLEGAL_STATE, UNJOINED = 401, 904


def captured(hip: Hip, stream: Any) -> ctypes.c_void_p:
    graph = ctypes.c_void_p()
    hip("hipStreamEndCapture", stream, ctypes.byref(graph))
    return graph


def node_count(hip: Hip, graph: Any) -> int:
    count = ctypes.c_size_t()
    hip("hipGraphGetNodes", graph, None, ctypes.byref(count))
    return count.value


def test_captured_work_runs_at_graph_launch(hip: Hip, stream: Any, store: Any) -> None:
    to = hip.zeroed(2)
    hip("hipStreamBeginCapture", stream, 0)
    assert hip.asked("hipStreamIsCapturing", stream) == ACTIVE
    assert hip.launch(store, [to, ctypes.c_uint32(5)], stream=stream) == 0
    hip("hipMemcpyAsync", ctypes.c_void_p((to.value or 0) + 4), to, ctypes.c_size_t(4), 3, stream)
    graph = captured(hip, stream)
    assert hip.asked("hipStreamIsCapturing", stream) == NONE
    assert (node_count(hip, graph), hip.words(to, 2)) == (2, [0, 0])
    executable = hip.handle("hipGraphInstantiate", graph, None, None, ctypes.c_size_t(0))
    hip("hipGraphLaunch", executable, stream)
    assert hip.words(to, 2) == [5, 5]


def test_stream_capture_queries_return_its_state(hip: Hip, stream: Any, store: Any) -> None:
    status, number, graph = ctypes.c_int(-1), ctypes.c_ulonglong(), ctypes.c_void_p()
    dependencies, count = ctypes.POINTER(ctypes.c_void_p)(), ctypes.c_size_t(9)
    hip("hipStreamGetCaptureInfo", stream, ctypes.byref(status), ctypes.byref(number))
    assert status.value == NONE
    to = hip.zeroed(1)
    hip("hipStreamBeginCapture", stream, RELAXED)
    assert hip.launch(store, [to, ctypes.c_uint32(5)], stream=stream) == 0
    hip("hipStreamGetCaptureInfo", stream, ctypes.byref(status), ctypes.byref(number))
    assert (status.value, number.value > 0) == (ACTIVE, True)
    again = ctypes.c_ulonglong()
    hip(
        "hipStreamGetCaptureInfo_v2", stream, ctypes.byref(status), ctypes.byref(again),
        ctypes.byref(graph), ctypes.byref(dependencies), ctypes.byref(count),
    )  # fmt: skip
    assert (again.value, count.value) == (number.value, 1)
    assert node_count(hip, graph) == 1
    hip("hipStreamUpdateCaptureDependencies", stream, None, ctypes.c_size_t(0), 1)
    hip("hipStreamGetCaptureInfo_v2", stream, ctypes.byref(status), None, None, None, ctypes.byref(count))
    assert count.value == 0
    captured(hip, stream)


def test_end_capture_with_unjoined_fork_fails(hip: Hip, stream: Any, store: Any) -> None:
    other, event, to = hip.handle("hipStreamCreateWithFlags", 1), hip.handle("hipEventCreate"), hip.zeroed(1)
    hip("hipStreamBeginCapture", stream, RELAXED)
    hip("hipEventRecord", event, stream)
    hip("hipStreamWaitEvent", other, event, 0)
    assert hip.launch(store, [to, ctypes.c_uint32(5)], stream=other) == 0
    assert hip.result("hipStreamEndCapture", stream, ctypes.byref(ctypes.c_void_p())) == UNJOINED


def test_end_capture_without_begin_fails(hip: Hip, stream: Any) -> None:
    assert hip.result("hipStreamEndCapture", stream, ctypes.byref(ctypes.c_void_p())) == ILLEGAL_STATE


def test_capture_mode_of_a_thread_is_exchanged(hip: Hip) -> None:
    mode = ctypes.c_int(RELAXED)
    hip("hipThreadExchangeStreamCaptureMode", ctypes.byref(mode))
    assert mode.value == 0
    hip("hipThreadExchangeStreamCaptureMode", ctypes.byref(mode))
    assert mode.value == RELAXED


def test_stream_query_during_stream_capture_fails(hip: Hip, stream: Any) -> None:
    hip("hipStreamBeginCapture", stream, RELAXED)
    result = hip.result("hipStreamQuery", stream)
    hip.result("hipStreamEndCapture", stream, ctypes.byref(ctypes.c_void_p()))
    assert result not in (0, NOT_READY)
