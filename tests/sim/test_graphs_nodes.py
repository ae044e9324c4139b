"""Parameters of nodes in graphs and executable graphs: queries and changes.

The results are those of driver 580 on an H200.
"""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from .conftest import Driver
from .graphs import (
    HOST_FUNCTION,
    INVALID_VALUE,
    NOT_SUPPORTED,
    Batch,
    Graph,
    Host,
    Kernel,
    Memcpy,
    Memset,
    Operation,
    nodes,
)

WAIT_32, WRITE_32, FLUSH, WAIT_64, WRITE_64, BARRIER = range(1, 7)


@pytest.fixture
def graph(driver: Driver) -> Graph:
    return Graph.make(driver)


def test_kernel_node_change_applies_to_next_instantiation(graph: Graph) -> None:
    node = graph.store(5)
    before = graph.instantiate()
    graph.driver("cuGraphKernelNodeSetParams_v2", node, ctypes.byref(graph.store_parameters(6)))
    assert graph.launch(before) == 0
    assert graph.number() == 5
    graph.run()
    assert graph.number() == 6
    actual = Kernel()
    graph.driver("cuGraphKernelNodeGetParams_v2", node, ctypes.byref(actual))
    assert ctypes.c_uint.from_address(actual.parameters[1] or 0).value == 6


def test_kernel_node_first_version_round_trips(graph: Graph) -> None:
    driver, parameters = graph.driver, graph.store_parameters(3)
    node = driver.handle("cuGraphAddKernelNode", graph.handle, *nodes(), ctypes.byref(parameters))
    executable = graph.instantiate()
    changed = graph.store_parameters(4)
    driver("cuGraphExecKernelNodeSetParams", executable, node, ctypes.byref(changed))
    assert graph.launch(executable) == 0
    assert graph.number() == 4
    driver("cuGraphKernelNodeSetParams", node, ctypes.byref(graph.store_parameters(7, grid=3)))
    actual = Kernel(kernel=1, context=1)
    driver("cuGraphKernelNodeGetParams", node, ctypes.byref(actual))
    assert (actual.grid[0], actual.kernel, actual.context) == (3, 1, 1), (
        "writes only the members of the first version"
    )


def test_kernel_node_refuses_invalid_launch(graph: Graph) -> None:
    node = graph.store(1)
    executable = graph.instantiate()
    wrong = ctypes.byref(graph.store_parameters(1, grid=0))
    assert graph.driver.result("cuGraphKernelNodeSetParams_v2", node, wrong) == INVALID_VALUE
    assert graph.driver.result("cuGraphExecKernelNodeSetParams_v2", executable, node, wrong) == INVALID_VALUE
    assert graph.driver.result("cuGraphKernelNodeSetParams_v2", node, None) == INVALID_VALUE
    assert graph.launch(executable) == 0


def test_memset_node_runs_and_returns_parameters(graph: Graph) -> None:
    node = graph.memset(pitch=77, value=0x1234)
    actual = Memset()
    graph.driver("cuGraphMemsetNodeGetParams", node, ctypes.byref(actual))
    assert (actual.pitch, actual.value, actual.width, actual.height) == (77, 0x1234, 16, 1)
    graph.driver("cuGraphMemsetNodeSetParams", node, ctypes.byref(graph.memset_parameters(value=9)))
    graph.run()
    assert graph.number() == 0x09090909


@pytest.mark.parametrize(
    "changes",
    [
        {"width": 0},
        {"height": 0},
        {"to": 0},
        {"element": 3},
        {"width": 5000},
        {"height": 2, "pitch": 4},
        {"to": 1, "element": 4},
    ],
)
def test_invalid_memset_node_is_refused(graph: Graph, changes: dict[str, int]) -> None:
    if changes.get("to") == 1:
        changes = {**changes, "to": graph.memory.value + 1}
    parameters = graph.memset_parameters(**changes)
    assert (
        graph.driver.result(
            "cuGraphAddMemsetNode",
            ctypes.byref(ctypes.c_void_p()),
            graph.handle,
            *nodes(),
            ctypes.byref(parameters),
            None,
        )
        == INVALID_VALUE
    )


@pytest.mark.parametrize(
    ("changes", "allowed"),
    [
        ({"value": 2}, True),
        ({"width": 8}, True),
        ({"width": 32}, True),
        ({"element": 4, "width": 4}, True),
        ({"width": 0}, False),
        ({"height": 2, "pitch": 32}, False),
        ({"to": 0}, False),
    ],
)
def test_executable_memset_row_change_is_checked(
    graph: Graph, changes: dict[str, int], allowed: bool
) -> None:
    node = graph.memset()
    executable = graph.instantiate()
    parameters = ctypes.byref(graph.memset_parameters(**changes))
    result = graph.driver.result("cuGraphExecMemsetNodeSetParams", executable, node, parameters, None)
    assert result == (0 if allowed else INVALID_VALUE)


@pytest.mark.parametrize(
    ("changes", "allowed"),
    [({}, True), ({"value": 9}, True), ({"width": 8}, False), ({"pitch": 64}, False), ({"height": 1}, False)],
)
def test_executable_memset_plane_change_is_checked(
    graph: Graph, changes: dict[str, int], allowed: bool
) -> None:
    plane = {"height": 4, "pitch": 32}
    node = graph.memset(**plane)
    executable = graph.instantiate()
    parameters = ctypes.byref(graph.memset_parameters(**{**plane, **changes}))
    result = graph.driver.result("cuGraphExecMemsetNodeSetParams", executable, node, parameters, None)
    assert result == (0 if allowed else INVALID_VALUE)


def test_memcpy_node_returns_parameters(graph: Graph) -> None:
    node = graph.memcpy(from_x=4, to_x=8, from_type=4)
    actual = Memcpy()
    graph.driver("cuGraphMemcpyNodeGetParams", node, ctypes.byref(actual))
    assert (actual.from_x, actual.to_x, actual.from_type, actual.from_pitch) == (4, 8, 4, 0)
    assert actual.from_device == graph.memory.value
    graph.driver.write(graph.memory, bytes(range(32)))
    graph.run()
    assert graph.number(256 + 8) == int.from_bytes(bytes(range(4, 8)), "little")
    changed = graph.memcpy_parameters(from_x=8)
    graph.driver("cuGraphMemcpyNodeSetParams", node, ctypes.byref(changed))
    graph.run()
    assert graph.number(256) == int.from_bytes(bytes(range(8, 12)), "little")


@pytest.mark.parametrize(
    ("changes", "allowed"),
    [
        ({"width": 32}, True),
        ({"from_device": 512}, True),
        ({"width": 0}, False),
        ({"depth": 0}, False),
        ({"height": 2, "from_pitch": 32, "to_pitch": 32}, False),
        ({"from_type": 4}, False),
    ],
)
def test_executable_memcpy_change_is_checked(graph: Graph, changes: dict[str, int], allowed: bool) -> None:
    node = graph.memcpy()
    executable = graph.instantiate()
    if "from_device" in changes:
        changes = {"from_device": graph.memory.value + changes["from_device"]}
    parameters = ctypes.byref(graph.memcpy_parameters(**changes))
    result = graph.driver.result("cuGraphExecMemcpyNodeSetParams", executable, node, parameters, None)
    assert result == (0 if allowed else INVALID_VALUE)


def test_host_node_calls_function(graph: Graph) -> None:
    calls: list[int] = []
    function = HOST_FUNCTION(lambda data: calls.append(data or 0))
    node = graph.host(function, data=1)
    executable = graph.instantiate()
    changed = Host(ctypes.cast(function, ctypes.c_void_p), 2)
    graph.driver("cuGraphExecHostNodeSetParams", executable, node, ctypes.byref(changed))
    assert graph.launch(executable) == 0
    graph.driver("cuGraphHostNodeSetParams", node, ctypes.byref(Host(changed.function, 3)))
    graph.run()
    assert calls == [2, 3]
    actual = Host()
    graph.driver("cuGraphHostNodeGetParams", node, ctypes.byref(actual))
    assert actual.data == 3
    assert graph.driver.result("cuGraphHostNodeSetParams", node, ctypes.byref(Host())) == INVALID_VALUE


def test_event_nodes_record_and_wait(graph: Graph) -> None:
    driver = graph.driver
    first, second = (driver.handle("cuEventCreate", 2) for _ in range(2))
    record = driver.handle("cuGraphAddEventRecordNode", graph.handle, *nodes(), first)
    wait = driver.handle("cuGraphAddEventWaitNode", graph.handle, *nodes(record), first)
    executable = graph.instantiate()
    actual = ctypes.c_void_p()
    for node, name in ((record, "Record"), (wait, "Wait")):
        driver(f"cuGraphEvent{name}NodeSetEvent", node, second)
        driver(f"cuGraphEvent{name}NodeGetEvent", node, ctypes.byref(actual))
        assert actual.value == second.value
        assert driver.result(f"cuGraphEvent{name}NodeSetEvent", node, None) == INVALID_VALUE
        driver(f"cuGraphExecEvent{name}NodeSetEvent", executable, node, second)
    assert driver.result("cuGraphExecEventWaitNodeSetEvent", executable, record, first) == INVALID_VALUE
    assert driver.result("cuGraphEventRecordNodeGetEvent", wait, ctypes.byref(actual)) == INVALID_VALUE
    hold = driver.handle("cuStreamCreate", 1)
    driver("cuEventRecord", second, hold)
    assert graph.launch(executable) == 0
    assert driver.result("cuEventQuery", second) == 0


def describe_batch(graph: Graph, *operations: Operation, flags: int = 0) -> Batch:
    items = (Operation * max(1, len(operations)))(*operations)
    graph.kept.append(items)
    return Batch(graph.context.value, len(operations), items, flags)


def add_batch(graph: Graph, parameters: Batch) -> tuple[int, ctypes.c_void_p]:
    node = ctypes.c_void_p()
    result = graph.driver.result(
        "cuGraphAddBatchMemOpNode", ctypes.byref(node), graph.handle, *nodes(), ctypes.byref(parameters)
    )
    return result, node


def test_batch_node_runs_operations(graph: Graph) -> None:
    base = graph.memory.value
    operations = (
        Operation(WRITE_32, base, 7),
        Operation(WAIT_32, base, 7, 1),
        Operation(WRITE_64, base + 8, 1),
    )
    result, node = add_batch(graph, describe_batch(graph, *operations))
    assert result == 0
    executable = graph.instantiate()
    assert graph.launch(executable) == 0
    assert (graph.number(), graph.number(8)) == (7, 1)
    actual = Batch()
    graph.driver("cuGraphBatchMemOpNodeGetParams", node, ctypes.byref(actual))
    assert (actual.count, actual.operations[0].kind, actual.operations[0].value) == (3, WRITE_32, 7)
    assert actual.context == graph.context.value
    changed = describe_batch(
        graph, Operation(WRITE_32, base, 8), Operation(WAIT_32, base, 8, 0), operations[2]
    )
    graph.driver("cuGraphExecBatchMemOpNodeSetParams", executable, node, ctypes.byref(changed))
    assert graph.launch(executable) == 0
    assert graph.number() == 8
    for wrong in (
        (operations[0],),
        (Operation(WRITE_64, base, 7), *operations[1:]),
        (Operation(WRITE_32, base, 7, 1), *operations[1:]),
        (Operation(WAIT_32, base, 7), *operations[1:]),
    ):
        parameters = ctypes.byref(describe_batch(graph, *wrong))
        assert (
            graph.driver.result("cuGraphExecBatchMemOpNodeSetParams", executable, node, parameters)
            == INVALID_VALUE
        )
    graph.driver("cuGraphBatchMemOpNodeSetParams", node, ctypes.byref(describe_batch(graph, operations[0])))


def test_batch_operations_are_checked(graph: Graph) -> None:
    base = graph.memory.value
    write = Operation(WRITE_32, base, 7)
    for operations, expected in (
        ((), 0),
        ((write,) * 255, 0),
        ((write,) * 256, INVALID_VALUE),
        ((Operation(9, base),), INVALID_VALUE),
        ((Operation(WRITE_32, 12345),), INVALID_VALUE),
        ((Operation(WRITE_32, base + 2),), INVALID_VALUE),
        ((Operation(WRITE_32, base, 1, 8),), INVALID_VALUE),
        ((Operation(WAIT_32, base, 1, 4),), INVALID_VALUE),
        ((Operation(WAIT_32, base, 1, 1 << 30),), NOT_SUPPORTED),
        ((Operation(FLUSH),), NOT_SUPPORTED),
        ((Operation(BARRIER),), 0),
    ):
        assert add_batch(graph, describe_batch(graph, *operations))[0] == expected
    assert add_batch(graph, describe_batch(graph, write, flags=1))[0] == INVALID_VALUE
    without = describe_batch(graph, write)
    without.context = None
    assert add_batch(graph, without)[0] == INVALID_VALUE


def test_captured_value_write_becomes_batch(graph: Graph) -> None:
    driver, stream = graph.driver, graph.driver.handle("cuStreamCreate", 1)
    driver("cuStreamBeginCapture_v2", stream, 0)
    driver("cuStreamWriteValue32_v2", stream, graph.memory, 5, 0)
    captured = ctypes.c_void_p()
    driver("cuStreamEndCapture", stream, ctypes.byref(captured))
    node, count = ctypes.c_void_p(), ctypes.c_size_t(1)
    driver("cuGraphGetNodes", captured, ctypes.byref(node), ctypes.byref(count))
    actual = Batch()
    driver("cuGraphBatchMemOpNodeGetParams", node, ctypes.byref(actual))
    assert (actual.count, actual.operations[0].kind, actual.operations[0].value) == (1, WRITE_32, 5)
    graph.inside(captured).run()
    assert graph.number() == 5


def test_disabled_node_is_skipped(graph: Graph) -> None:
    first = graph.store(5)
    second = graph.store(6, first)
    executable = graph.instantiate()
    enabled = ctypes.c_uint(7)
    graph.driver("cuGraphNodeGetEnabled", executable, second, ctypes.byref(enabled))
    assert enabled.value == 1
    graph.driver("cuGraphNodeSetEnabled", executable, second, 0)
    graph.driver("cuGraphNodeGetEnabled", executable, second, ctypes.byref(enabled))
    assert enabled.value == 0
    assert graph.launch(executable) == 0
    assert graph.number() == 5
    graph.driver("cuGraphNodeSetEnabled", executable, second, 1)
    assert graph.launch(executable) == 0
    assert graph.number() == 6


def test_disabling_host_work_is_refused(graph: Graph) -> None:
    names: list[Any] = [graph.host(HOST_FUNCTION(lambda _: None)), graph.empty()]
    values = graph.memset(), graph.memcpy()
    executable = graph.instantiate()
    later = graph.store(1)
    value = ctypes.c_uint()
    for node in (*names, later):
        assert graph.driver.result("cuGraphNodeSetEnabled", executable, node, 0) == INVALID_VALUE
        assert (
            graph.driver.result("cuGraphNodeGetEnabled", executable, node, ctypes.byref(value))
            == INVALID_VALUE
        )
    for node in values:
        graph.driver("cuGraphNodeSetEnabled", executable, node, 0)
    assert graph.driver.result("cuGraphNodeGetEnabled", executable, values[0], None) == INVALID_VALUE


def test_removed_node_handle_is_invalid(graph: Graph) -> None:
    first = graph.store(5)
    second = graph.store(6, first)
    executable = graph.instantiate()
    graph.driver("cuGraphDestroyNode", first)
    changed = ctypes.byref(graph.store_parameters(7))
    assert (
        graph.driver.result("cuGraphExecKernelNodeSetParams_v2", executable, first, changed) == INVALID_VALUE
    )
    assert graph.launch(executable) == 0
    graph.driver("cuGraphExecKernelNodeSetParams_v2", executable, second, changed)
    assert graph.launch(executable) == 0
    assert graph.number() == 7


def test_change_during_launch_does_not_wait(graph: Graph) -> None:
    """A queued launch keeps its parameters."""
    driver, stream = graph.driver, graph.driver.handle("cuStreamCreate", 1)
    gate = driver.allocate(4)
    driver.write(gate, bytes(4))
    node = graph.store(5)
    executable = graph.instantiate()
    driver("cuStreamWaitValue32_v2", stream, gate, 1, 0)
    driver("cuGraphLaunch", executable, stream)
    driver("cuGraphExecKernelNodeSetParams_v2", executable, node, ctypes.byref(graph.store_parameters(6)))
    driver("cuStreamWriteValue32_v2", driver.handle("cuStreamCreate", 1), gate, 1, 0)
    driver("cuStreamSynchronize", stream)
    assert graph.number() == 5
    assert graph.launch(executable) == 0
    assert graph.number() == 6


def test_launches_of_one_graph_are_serialized_across_streams(graph: Graph) -> None:
    driver = graph.driver
    order: list[int] = []
    node = graph.host(HOST_FUNCTION(lambda data: order.append(data or 0)), data=1)
    executable = graph.instantiate()
    first, second = (driver.handle("cuStreamCreate", 1) for _ in range(2))
    gate = driver.allocate(4)
    driver.write(gate, bytes(4))
    driver("cuStreamWaitValue32_v2", first, gate, 1, 0)
    driver("cuGraphLaunch", executable, first)
    actual = Host()
    driver("cuGraphHostNodeGetParams", node, ctypes.byref(actual))
    actual.data = 2
    driver("cuGraphExecHostNodeSetParams", executable, node, ctypes.byref(actual))
    driver("cuGraphLaunch", executable, second)
    driver("cuStreamWriteValue32_v2", driver.handle("cuStreamCreate", 1), gate, 1, 0)
    driver("cuStreamSynchronize", second)
    assert order == [1, 2]
