"""Stream capture: begin, fork, join, queries, changes and end. Results are those of a GPU's driver."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

import pytest

from .conftest import STORE, Driver

UNSUPPORTED, INVALIDATED, MERGE, UNMATCHED, UNJOINED = 900, 901, 902, 903, 904
ISOLATION, IMPLICIT, CAPTURED_EVENT, WRONG_THREAD, ILLEGAL_STATE, INVALID_VALUE = 905, 906, 907, 908, 401, 1
NONE, ACTIVE, INVALID = 0, 1, 2
LEGACY, PER_THREAD = None, ctypes.c_void_p(2)
UPDATE = "cuStreamUpdateCaptureDependencies"


def query_status(driver: Driver, stream: Any) -> int:
    value = ctypes.c_int(-1)
    driver("cuStreamIsCapturing", stream, ctypes.byref(value))
    return value.value


def begin_capture(driver: Driver, mode: int = 0, flags: int = 1) -> ctypes.c_void_p:
    stream = driver.handle("cuStreamCreate", flags)
    driver("cuStreamBeginCapture_v2", stream, mode)
    return stream


def end_capture(driver: Driver, stream: Any) -> tuple[int, ctypes.c_void_p]:
    graph = ctypes.c_void_p(1)
    return driver.result("cuStreamEndCapture", stream, ctypes.byref(graph)), graph


def fork_stream(driver: Driver, main: Any, side: Any) -> int:
    event = driver.handle("cuEventCreate", 2)
    driver("cuEventRecord", event, main)
    return driver.result("cuStreamWaitEvent", side, event, 0)


def submit_work(driver: Driver, stream: Any, memory: ctypes.c_uint64) -> int:
    return driver.result("cuMemsetD8Async", memory, 0, ctypes.c_size_t(4), stream)


def allocate(driver: Driver) -> int:
    return driver.result("cuMemAlloc_v2", ctypes.byref(ctypes.c_uint64()), ctypes.c_size_t(64))


def call_in_thread(driver: Driver, call: Callable[[], Any]) -> Any:
    """Return the result of a call made in another thread with the same context."""
    context, calls = driver.handle("cuCtxGetCurrent"), []

    def run() -> None:
        driver("cuCtxSetCurrent", context)
        calls.append(call())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return calls[0]


def count_nodes_and_edges(driver: Driver, graph: ctypes.c_void_p) -> tuple[int, int]:
    """Return the numbers of nodes and edges."""
    nodes, edges = ctypes.c_size_t(), ctypes.c_size_t()
    driver("cuGraphGetNodes", graph, None, ctypes.byref(nodes))
    driver("cuGraphGetEdges", graph, None, None, ctypes.byref(edges))
    return nodes.value, edges.value


def query_info(driver: Driver, stream: Any, version: str = "_v2") -> list[Any]:
    """Return result, status, id, graph, nodes, edge data and count. Unwritten values keep their markers."""
    out = [ctypes.c_int(-1), ctypes.c_int64(-1), *(ctypes.c_void_p(1) for _ in range(3)), ctypes.c_size_t(77)]
    inputs = out if version == "_v3" else out[:4] + out[5:]
    code = driver.result(f"cuStreamGetCaptureInfo{version}", stream, *(ctypes.byref(o) for o in inputs))
    return [code, *(o.value for o in out)]


REFUSED_OWN, REFUSED_ELSEWHERE = {(0, 0), (0, 1), (1, 0), (1, 1)}, {(0, 0)}


@pytest.mark.parametrize("capture_mode", range(3))
@pytest.mark.parametrize("thread_mode", range(3))
@pytest.mark.parametrize("own", [True, False])
def test_unsafe_call_result_depends_on_capture_mode(
    driver: Driver, capture_mode: int, thread_mode: int, own: bool
) -> None:
    stream = begin_capture(driver, capture_mode)

    def call() -> int:
        mode = ctypes.c_int(thread_mode)
        driver("cuThreadExchangeStreamCaptureMode", ctypes.byref(mode))
        assert mode.value == 0
        result = allocate(driver)
        driver("cuThreadExchangeStreamCaptureMode", ctypes.byref(mode))
        assert mode.value == thread_mode
        return result

    refused = (capture_mode, thread_mode) in (REFUSED_OWN if own else REFUSED_ELSEWHERE)
    assert (call() if own else call_in_thread(driver, call)) == (UNSUPPORTED if refused else 0)
    assert query_status(driver, stream) == (INVALID if refused else ACTIVE)
    assert end_capture(driver, stream)[0] == (INVALIDATED if refused else 0)


@pytest.mark.parametrize("modes", [(a, b) for a in range(3) for b in range(3)])
def test_forbidden_call_invalidates_every_conflicting_capture(driver: Driver, modes: tuple[int, int]) -> None:
    streams = [begin_capture(driver, mode) for mode in modes]
    assert allocate(driver) == (0 if modes == (2, 2) else UNSUPPORTED)
    assert [end_capture(driver, stream)[0] for stream in streams] == [
        0 if mode == 2 else INVALIDATED for mode in modes
    ]


def test_mode_exchange_with_null_is_refused(driver: Driver) -> None:
    assert driver.result("cuThreadExchangeStreamCaptureMode", None) == INVALID_VALUE


@pytest.mark.parametrize(("mode", "result"), [(0, WRONG_THREAD), (1, WRONG_THREAD), (2, 0)])
def test_end_on_another_thread_succeeds_only_when_relaxed(driver: Driver, mode: int, result: int) -> None:
    stream, memory = driver.handle("cuStreamCreate", 1), driver.allocate(4)
    driver("cuStreamBeginCapture_v2", stream, mode)
    assert call_in_thread(
        driver, lambda: (submit_work(driver, stream, memory), end_capture(driver, stream)[0])
    ) == (0, result)
    assert query_status(driver, stream) == NONE
    assert end_capture(driver, stream)[0] == ILLEGAL_STATE


@pytest.mark.parametrize(("mode", "results"), [(0, (900, 901)), (1, (0, 908)), (2, (0, 0))])
def test_capture_after_thread_exit_continues(driver: Driver, mode: int, results: tuple[int, int]) -> None:
    stream = driver.handle("cuStreamCreate", 1)
    call_in_thread(driver, lambda: driver("cuStreamBeginCapture_v2", stream, mode))
    assert (allocate(driver), end_capture(driver, stream)[0]) == results
    assert allocate(driver) == 0


def test_begin_with_bad_arguments_is_refused(driver: Driver) -> None:
    stream = driver.handle("cuStreamCreate", 1)
    for mode in (3, -1):
        assert driver.result("cuStreamBeginCapture_v2", stream, mode) == INVALID_VALUE
        assert driver.result("cuStreamBeginCapture_v2", LEGACY, mode) == INVALID_VALUE
    assert driver.result("cuStreamBeginCapture", LEGACY) == UNSUPPORTED
    assert driver.result("cuStreamIsCapturing", stream, None) == INVALID_VALUE
    assert driver.result("cuStreamEndCapture", stream, None) == ILLEGAL_STATE
    code, graph = end_capture(driver, stream)
    assert (code, graph.value) == (ILLEGAL_STATE, None)


@pytest.mark.parametrize(
    ("name", "handle"),
    [("cuStreamBeginCapture_v2", PER_THREAD), ("cuStreamBeginCapture_v2_ptsz", None)],
)
def test_per_thread_stream_can_capture(driver: Driver, name: str, handle: Any) -> None:
    driver(name, handle, 0)
    assert query_status(driver, PER_THREAD) == ACTIVE
    code, graph = end_capture(driver, PER_THREAD)
    assert (code, count_nodes_and_edges(driver, graph)) == (0, (0, 0))


def test_end_without_output_still_ends_capture(driver: Driver) -> None:
    stream = begin_capture(driver)
    driver("cuStreamEndCapture", stream, None)
    assert (query_status(driver, stream), end_capture(driver, stream)[0]) == (NONE, ILLEGAL_STATE)


def test_end_on_joined_stream_is_refused(driver: Driver) -> None:
    memory, side, main = driver.allocate(4), driver.handle("cuStreamCreate", 1), begin_capture(driver)
    fork_stream(driver, main, side)
    code, graph = end_capture(driver, side)
    assert (code, graph.value) == (UNMATCHED, None)
    assert [query_status(driver, stream) for stream in (main, side)] == [INVALID, INVALID]
    assert end_capture(driver, side)[0] == UNMATCHED
    assert [submit_work(driver, stream, memory) for stream in (main, side)] == [INVALIDATED, INVALIDATED]
    code, graph = end_capture(driver, main)
    assert (code, graph.value) == (INVALIDATED, None)
    assert [query_status(driver, stream) for stream in (main, side)] == [NONE, NONE]
    assert [submit_work(driver, stream, memory) for stream in (main, side)] == [0, 0]


@pytest.mark.parametrize(
    ("before", "aside", "rejoin", "after", "result"),
    [
        (False, False, False, False, 0),
        (True, False, False, False, 0),
        (False, True, False, False, UNJOINED),
        (False, True, True, False, 0),
        (False, True, True, True, UNJOINED),
    ],
)
def test_end_with_unjoined_work_fails(
    driver: Driver, before: bool, aside: bool, rejoin: bool, after: bool, result: int
) -> None:
    memory, side, main = driver.allocate(4), driver.handle("cuStreamCreate", 1), begin_capture(driver)
    if before:
        submit_work(driver, main, memory)
    fork_stream(driver, main, side)
    if aside:
        submit_work(driver, side, memory)
    if rejoin:
        fork_stream(driver, side, main)
    if after:
        submit_work(driver, side, memory)
    assert end_capture(driver, main)[0] == result
    assert query_status(driver, side) == NONE


def test_waiting_across_captures_invalidates_both(driver: Driver) -> None:
    one, other = begin_capture(driver), begin_capture(driver)
    assert fork_stream(driver, one, other) == MERGE
    assert [query_status(driver, stream) for stream in (one, other)] == [INVALID, INVALID]
    assert [end_capture(driver, stream)[0] for stream in (one, other)] == [INVALIDATED, INVALIDATED]


def test_event_belongs_to_latest_recording_capture(driver: Driver) -> None:
    event, one, other = driver.handle("cuEventCreate", 0), begin_capture(driver), begin_capture(driver)
    driver("cuEventRecord", event, one)
    driver("cuEventRecord", event, other)
    driver("cuStreamWaitEvent", other, event, 0)
    assert [end_capture(driver, stream)[0] for stream in (one, other)] == [0, 0]
    stream = driver.handle("cuStreamCreate", 1)
    main = begin_capture(driver, 2)
    driver("cuEventRecord", event, main)
    driver("cuEventRecord", event, stream)
    driver("cuEventSynchronize", event)
    assert end_capture(driver, main)[0] == 0


def test_waiting_for_uncaptured_work_invalidates_capture(driver: Driver) -> None:
    event, outside, memory = (
        driver.handle("cuEventCreate", 0),
        driver.handle("cuStreamCreate", 1),
        driver.allocate(4),
    )
    driver("cuEventRecord", event, outside)
    main = begin_capture(driver)
    assert driver.result("cuStreamWaitEvent", main, event, 0) == ISOLATION
    assert query_status(driver, main) == INVALID
    assert submit_work(driver, main, memory) == INVALIDATED
    assert driver.result("cuEventRecord", event, main) == INVALIDATED
    assert driver.result("cuStreamWaitEvent", main, event, 0) == INVALIDATED
    assert driver.result(UPDATE, main, None, ctypes.c_size_t(0), 1) == INVALIDATED
    assert driver.result("cuStreamQuery", main) == UNSUPPORTED
    assert end_capture(driver, main)[0] == INVALIDATED


def test_event_of_ended_capture_is_invalid(driver: Driver) -> None:
    event, other, main = (
        driver.handle("cuEventCreate", 0),
        driver.handle("cuStreamCreate", 1),
        begin_capture(driver, 2),
    )
    driver("cuEventRecord", event, main)
    milliseconds = ctypes.byref(ctypes.c_float())
    assert driver.result("cuEventElapsedTime_v2", milliseconds, event, event) == CAPTURED_EVENT
    assert query_status(driver, main) == ACTIVE
    end_capture(driver, main)
    assert driver.result("cuEventQuery", event) == INVALID_VALUE
    assert driver.result("cuEventSynchronize", event) == INVALID_VALUE
    assert driver.result("cuEventElapsedTime_v2", milliseconds, event, event) == INVALID_VALUE
    assert driver.result("cuStreamWaitEvent", other, event, 0) == INVALID_VALUE
    main = begin_capture(driver, 2)
    assert driver.result("cuStreamWaitEvent", main, event, 0) == INVALID_VALUE
    assert end_capture(driver, main)[0] == INVALIDATED


def test_external_flag_outside_capture_is_refused(driver: Driver) -> None:
    event, stream = driver.handle("cuEventCreate", 0), driver.handle("cuStreamCreate", 1)
    for flags, result in ((1, ILLEGAL_STATE), (2, INVALID_VALUE)):
        for where in (stream, None):
            assert driver.result("cuEventRecordWithFlags", event, where, flags) == result
            assert driver.result("cuStreamWaitEvent", where, event, flags) == result
    driver("cuStreamBeginCapture_v2", stream, 0)
    driver("cuEventRecordWithFlags", event, stream, 1)
    driver("cuStreamWaitEvent", stream, event, 1)
    code, graph = end_capture(driver, stream)
    assert (code, count_nodes_and_edges(driver, graph)) == (0, (2, 1))
    executable = driver.handle("cuGraphInstantiateWithFlags", graph, ctypes.c_ulonglong(0))
    driver("cuGraphLaunch", executable, stream)
    driver("cuStreamSynchronize", stream)
    assert driver.result("cuEventQuery", event) == 0
    assert driver.result("cuEventElapsedTime_v2", ctypes.byref(ctypes.c_float()), event, event) == 0


def test_legacy_stream_during_blocking_capture_is_refused(driver: Driver) -> None:
    stream, out = begin_capture(driver, 2, flags=0), ctypes.byref(ctypes.c_void_p())
    assert driver.result("cuStreamIsCapturing", LEGACY, out) == IMPLICIT
    for version, rest in (("", 1), ("_v2", 4), ("_v3", 5)):
        name = f"cuStreamGetCaptureInfo{version}"
        assert driver.result(name, LEGACY, out, *[None] * rest) == IMPLICIT
    assert driver.result("cuStreamQuery", PER_THREAD) == 0
    assert query_status(driver, stream) == ACTIVE, "a query does not invalidate the capture"
    assert driver.result("cuStreamGetFlags", LEGACY, out) == IMPLICIT
    assert query_status(driver, stream) == INVALID
    assert end_capture(driver, stream)[0] == INVALIDATED
    driver("cuStreamSynchronize", LEGACY)


def test_stream_destroy_ends_its_own_capture(driver: Driver) -> None:
    memory, side, main = driver.allocate(4), driver.handle("cuStreamCreate", 1), begin_capture(driver)
    fork_stream(driver, main, side)
    submit_work(driver, side, memory)
    driver("cuStreamDestroy_v2", side)
    assert query_status(driver, main) == ACTIVE
    assert end_capture(driver, main)[0] == UNJOINED
    driver("cuStreamBeginCapture_v2", main, 0)
    driver("cuStreamDestroy_v2", main)
    assert allocate(driver) == 0


@pytest.mark.parametrize("version", ["_v2", "_v3"])
def test_capture_info_reports_status_and_dependencies(driver: Driver, version: str) -> None:
    memory, stream = driver.allocate(4), driver.handle("cuStreamCreate", 1)
    assert query_info(driver, stream, version) == [0, NONE, -1, 1, 1, 1, 77]
    driver("cuStreamBeginCapture_v2", stream, 0)
    code, state, number, graph, nodes, edges, count = query_info(driver, stream, version)
    assert (code, state, nodes, count) == (0, ACTIVE, None, 0)
    assert edges == (None if version == "_v3" else 1)
    submit_work(driver, stream, memory)
    again = query_info(driver, stream, version)
    assert again[:4] == [0, ACTIVE, number, graph] and again[6] == 1
    assert (ctypes.c_ubyte * 8).from_address(again[5])[:] == [0] * 8 if version == "_v3" else again[5] == 1
    code, captured_graph = end_capture(driver, stream)
    assert captured_graph.value == graph
    driver("cuStreamBeginCapture_v2", stream, 0)
    assert query_info(driver, stream, version)[2] > number
    end_capture(driver, stream)


def test_capture_info_accepts_null_outputs(driver: Driver) -> None:
    stream, out = begin_capture(driver), ctypes.byref(ctypes.c_void_p())
    name = "cuStreamGetCaptureInfo"
    assert driver.result(name, stream, out, None) == 0
    assert driver.result(name, stream, None, out) == INVALID_VALUE
    assert driver.result(f"{name}_v2", stream, None, out, None, None, None) == INVALID_VALUE
    assert driver.result(f"{name}_v2", stream, out, None, None, out, None) == 0
    assert driver.result(f"{name}_v3", stream, out, None, None, None, out, None) == INVALID_VALUE
    assert end_capture(driver, stream)[0] == 0


def test_dependency_update_changes_next_node(driver: Driver) -> None:
    memory, stream = driver.allocate(4), driver.handle("cuStreamCreate", 1)
    one, none = ctypes.c_size_t(1), ctypes.c_size_t(0)
    assert driver.result(UPDATE, stream, None, none, 1) == ILLEGAL_STATE
    foreign = driver.handle("cuGraphAddEmptyNode", driver.handle("cuGraphCreate", 0), None, none)
    driver("cuStreamBeginCapture_v2", stream, 0)
    submit_work(driver, stream, memory)
    first = ctypes.c_void_p(ctypes.c_void_p.from_address(query_info(driver, stream)[4]).value)

    def count() -> int:
        return int(query_info(driver, stream)[6])

    assert driver.result(UPDATE, stream, ctypes.byref(first), one, 2) == INVALID_VALUE
    assert driver.result(UPDATE, stream, None, one, 0) == INVALID_VALUE
    assert driver.result(UPDATE, stream, ctypes.byref(foreign), one, 0) == INVALID_VALUE
    driver(UPDATE, stream, ctypes.byref(first), one, 0)
    assert count() == 1, "already a dependency"
    driver(UPDATE, stream, None, none, 1)
    assert count() == 0
    submit_work(driver, stream, memory)
    driver(UPDATE, stream, ctypes.byref(first), one, 0)
    assert count() == 2
    driver(UPDATE, stream, ctypes.c_void_p(query_info(driver, stream)[4]), ctypes.c_size_t(2), 1)
    assert count() == 2, "accepts the stream's own list"
    driver(UPDATE, stream, (ctypes.c_void_p * 2)(first, first), ctypes.c_size_t(2), 1)
    assert count() == 1
    driver(f"{UPDATE}_v2", stream, ctypes.byref(first), ctypes.create_string_buffer(8), one, 1)
    driver(f"{UPDATE}_v2_ptsz", stream, ctypes.byref(first), None, one, 1)
    odd = ctypes.create_string_buffer(b"\x09", 8)
    assert driver.result(f"{UPDATE}_v2", stream, ctypes.byref(first), odd, one, 1) == INVALID_VALUE
    submit_work(driver, stream, memory)
    code, graph = end_capture(driver, stream)
    assert (code, count_nodes_and_edges(driver, graph)) == (0, (3, 1))


def test_removed_node_needs_no_join(driver: Driver) -> None:
    memory, side, main = driver.allocate(4), driver.handle("cuStreamCreate", 1), begin_capture(driver)
    fork_stream(driver, main, side)
    submit_work(driver, side, memory)
    driver(UPDATE, side, None, ctypes.c_size_t(0), 1)
    assert end_capture(driver, main)[0] == 0


TO_GRAPH = "cuStreamBeginCaptureToGraph"
ZERO, ONE = ctypes.c_size_t(0), ctypes.c_size_t(1)


def test_capture_into_existing_graph_adds_nodes(driver: Driver) -> None:
    memory, stream, graph = (
        driver.allocate(4),
        driver.handle("cuStreamCreate", 1),
        driver.handle("cuGraphCreate", 0),
    )
    node = driver.handle("cuGraphAddEmptyNode", graph, None, ZERO)
    foreign = driver.handle("cuGraphAddEmptyNode", driver.handle("cuGraphCreate", 0), None, ZERO)
    assert driver.result(TO_GRAPH, stream, None, None, None, ZERO, 0) == INVALID_VALUE
    assert driver.result(TO_GRAPH, stream, graph, None, None, ONE, 0) == INVALID_VALUE
    assert driver.result(TO_GRAPH, stream, graph, ctypes.byref(foreign), None, ONE, 0) == INVALID_VALUE
    assert driver.result(TO_GRAPH, stream, graph, None, None, ZERO, 3) == INVALID_VALUE
    assert driver.result(TO_GRAPH, LEGACY, graph, None, None, ZERO, 0) == UNSUPPORTED
    driver(TO_GRAPH, stream, graph, ctypes.byref(node), None, ONE, 0)
    assert driver.result(TO_GRAPH, stream, graph, None, None, ZERO, 0) == ILLEGAL_STATE
    other = driver.handle("cuStreamCreate", 1)
    assert driver.result(TO_GRAPH, other, graph, None, None, ZERO, 2) == ILLEGAL_STATE
    submit_work(driver, stream, memory)
    code, captured_graph = end_capture(driver, stream)
    assert (code, captured_graph.value, count_nodes_and_edges(driver, graph)) == (0, graph.value, (2, 1))
    driver(f"{TO_GRAPH}_ptsz", stream, graph, None, None, ZERO, 2)
    driver("cuStreamEndCapture", stream, None)
    assert count_nodes_and_edges(driver, graph) == (2, 1)


def test_graph_after_failed_capture_is_destroyed(driver: Driver) -> None:
    stream, graph = driver.handle("cuStreamCreate", 1), driver.handle("cuGraphCreate", 0)
    driver(TO_GRAPH, stream, graph, None, None, ZERO, 2)
    assert driver.result("cuStreamQuery", stream) == UNSUPPORTED
    code, captured_graph = end_capture(driver, stream)
    assert (code, captured_graph.value) == (INVALIDATED, None)
    assert driver.result(TO_GRAPH, stream, graph, None, None, ZERO, 2) == INVALID_VALUE


def test_graph_destroyed_during_capture_invalidates_it(driver: Driver) -> None:
    memory, stream = driver.allocate(4), begin_capture(driver, 2)
    submit_work(driver, stream, memory)
    driver("cuGraphDestroy", ctypes.c_void_p(query_info(driver, stream)[3]))
    assert submit_work(driver, stream, memory) == INVALIDATED
    assert end_capture(driver, stream)[0] == INVALIDATED


def test_context_destroyed_during_capture_ends_captures(driver: Driver) -> None:
    context = driver.handle("cuCtxCreate_v4", None, 0, 0)
    memory, side, main = driver.allocate(4), driver.handle("cuStreamCreate", 1), begin_capture(driver)
    fork_stream(driver, main, side)
    submit_work(driver, side, memory)
    driver("cuCtxDestroy_v2", context)
    assert allocate(driver) == 0, "its captures have ended"


def test_captured_launch_runs_with_the_graph(driver: Driver) -> None:
    """A long chain across two streams runs in order when launched."""
    function, memory = driver.function(STORE, "store"), driver.allocate(4)
    side, main = driver.handle("cuStreamCreate", 1), begin_capture(driver)
    fork_stream(driver, main, side)
    for value in range(20):
        assert (
            driver.launch(function, [memory, ctypes.c_uint(value)], stream=side if value % 2 else main) == 0
        )
        fork_stream(driver, *((side, main) if value % 2 else (main, side)))
    code, graph = end_capture(driver, main)
    assert code == 0
    executable = driver.handle("cuGraphInstantiateWithFlags", graph, ctypes.c_ulonglong(0))
    driver("cuGraphLaunch", executable, main)
    driver("cuStreamSynchronize", main)
    assert int.from_bytes(driver.read(memory, 4), "little") == 19
