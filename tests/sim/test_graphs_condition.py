"""Conditional nodes. The results are those of driver 580 on an H200. Only the handle, here the address of the
condition's value, differs, so that a kernel can set it without the device runtime library."""

from __future__ import annotations

import ctypes

import pytest

from .conftest import PTX_HEAD, Driver
from .graphs import (
    HOST_FUNCTION,
    INVALID_CONTEXT,
    INVALID_VALUE,
    NOT_SUPPORTED,
    Condition,
    Graph,
    Instantiation,
    Kernel,
    Node,
    nodes,
)

CONDITIONAL, IF, WHILE, SWITCH = 13, 0, 1, 2
OPERATION_NOT_SUPPORTED, HANDLE_UNUSED = 3, 5

COUNT_DOWN = (
    PTX_HEAD
    + """
.visible .entry count_down(.param .u64 handle, .param .u64 total)
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [handle];
    ld.param.u64 %rd2, [total];
    ld.global.u32 %r1, [%rd1];
    sub.u32 %r2, %r1, 1;
    st.global.u32 [%rd1], %r2;
    ld.global.u32 %r3, [%rd2];
    add.u32 %r4, %r3, 1;
    st.global.u32 [%rd2], %r4;
    ret;
}
"""
)


@pytest.fixture
def graph(driver: Driver) -> Graph:
    return Graph.make(driver)


def create_handle(graph: Graph, value: int, flags: int = 1) -> ctypes.c_uint64:
    handle = ctypes.c_uint64()
    graph.driver(
        "cuGraphConditionalHandleCreate", ctypes.byref(handle), graph.handle, graph.context, value, flags
    )
    return handle


def describe_condition(graph: Graph, made: ctypes.c_uint64, kind: int, size: int = 1) -> Node:
    return Node.of(CONDITIONAL, Condition(made.value, kind, size, None, graph.context.value))


def add_bodies(graph: Graph, parameters: Node, size: int) -> list[Graph]:
    graph.add(parameters)
    return [graph.inside(parameters.read(Condition).bodies[i]) for i in range(size)]


@pytest.mark.parametrize(
    ("kind", "size", "value", "expected"),
    [
        (IF, 1, 1, 100),
        (IF, 1, 0, 0),
        (IF, 2, 7, 100),
        (IF, 2, 0, 101),
        (SWITCH, 3, 0, 100),
        (SWITCH, 3, 2, 102),
        (SWITCH, 3, 3, 0),
        (WHILE, 1, 0, 0),
    ],
)
def test_default_value_selects_body(graph: Graph, kind: int, size: int, value: int, expected: int) -> None:
    condition = create_handle(graph, value)
    for number, body in enumerate(add_bodies(graph, describe_condition(graph, condition, kind, size), size)):
        body.store(100 + number)
    graph.driver.write(graph.memory, bytes(4))
    graph.run()
    assert graph.number() == expected


def test_while_node_runs_until_kernel_clears_value(graph: Graph) -> None:
    condition = create_handle(graph, 5)
    (body,) = add_bodies(graph, describe_condition(graph, condition, WHILE), 1)
    pointers = (ctypes.c_void_p * 2)(ctypes.addressof(condition), ctypes.addressof(graph.memory))
    function = graph.driver.function(COUNT_DOWN, "count_down")
    body.kernel(Kernel(function.value, (1, 1, 1), (1, 1, 1), 0, pointers))
    graph.driver.write(graph.memory, bytes(4))
    executable = graph.instantiate()
    for launches in (1, 2):
        assert graph.launch(executable) == 0
        assert graph.number() == 5 * launches, "each launch restores the default"


def test_nested_conditions_run(graph: Graph) -> None:
    outer, inner = create_handle(graph, 1), create_handle(graph, 1)
    (body,) = add_bodies(graph, describe_condition(graph, outer, IF), 1)
    (innermost,) = add_bodies(body, describe_condition(graph, inner, IF), 1)
    innermost.store(9)
    graph.run()
    assert graph.number() == 9


def test_condition_handle_arguments_are_checked(graph: Graph) -> None:
    driver, handle = graph.driver, ctypes.c_uint64()
    out = ctypes.byref(handle)
    for flags, expected in ((0, 0), (1, 0), (2, INVALID_VALUE), (3, INVALID_VALUE)):
        result = driver.result("cuGraphConditionalHandleCreate", out, graph.handle, graph.context, 1, flags)
        assert result == expected
    create = "cuGraphConditionalHandleCreate"
    assert driver.result(create, out, graph.handle, None, 1, 1) == INVALID_CONTEXT
    assert driver.result(create, out, None, graph.context, 1, 1) == INVALID_VALUE


def test_condition_node_arguments_are_checked(graph: Graph) -> None:
    condition = create_handle(graph, 1)
    for kind, size in ((3, 1), (IF, 0), (IF, 3), (WHILE, 2), (SWITCH, 0)):
        assert graph.add_result(describe_condition(graph, condition, kind, size)) == INVALID_VALUE
    assert graph.add_result(describe_condition(graph, ctypes.c_uint64(999), IF)) == INVALID_VALUE
    without = Node.of(CONDITIONAL, Condition(condition.value, IF, 1, None, None))
    assert graph.add_result(without) == INVALID_CONTEXT
    assert graph.add_result(describe_condition(graph, condition, IF)) == 0
    assert graph.add_result(describe_condition(graph, condition, IF)) == INVALID_VALUE, (
        "a handle has one node"
    )


def instantiate(graph: Graph) -> tuple[int, int | None, int]:
    parameters = Instantiation(node=1, result=99)
    handle = ctypes.byref(ctypes.c_void_p())
    result = graph.driver.result(
        "cuGraphInstantiateWithParams", handle, graph.handle, ctypes.byref(parameters)
    )
    return result, parameters.node, parameters.result


def test_unused_handle_fails_instantiation(graph: Graph) -> None:
    graph.store(1)
    create_handle(graph, 1)
    assert instantiate(graph) == (INVALID_VALUE, None, HANDLE_UNUSED)


def test_body_with_host_work_is_refused(graph: Graph) -> None:
    (body,) = add_bodies(graph, describe_condition(graph, create_handle(graph, 1), IF), 1)
    body.store(1)
    assert instantiate(graph)[0] == 0
    node = body.host(HOST_FUNCTION(lambda _: None))
    assert instantiate(graph) == (INVALID_VALUE, node.value, OPERATION_NOT_SUPPORTED)


def test_graph_with_condition_refuses_unsupported_calls(graph: Graph) -> None:
    driver, handle = graph.driver, ctypes.byref(ctypes.c_void_p())
    parameters = describe_condition(graph, create_handle(graph, 1), IF)
    (body,) = add_bodies(graph, parameters, 1)
    other = driver.handle("cuGraphCreate", 0)
    assert driver.result("cuGraphClone", handle, graph.handle) == NOT_SUPPORTED
    assert driver.result("cuGraphAddChildGraphNode", handle, other, *nodes(), graph.handle) == NOT_SUPPORTED
    assert body.instantiate_result() == NOT_SUPPORTED
    assert driver.result("cuGraphDestroy", body.handle) == INVALID_VALUE
    executable = graph.instantiate()
    assert graph.instantiate_result() == NOT_SUPPORTED
    driver("cuGraphExecDestroy", executable)
    assert graph.instantiate_result() == 0


def test_condition_node_can_be_listed_and_removed(graph: Graph) -> None:
    parameters = describe_condition(graph, create_handle(graph, 1), SWITCH, 2)
    node = graph.add(parameters)
    kind = ctypes.c_int()
    graph.driver("cuGraphNodeGetType", node, ctypes.byref(kind))
    assert kind.value == CONDITIONAL
    first = ctypes.c_void_p(parameters.read(Condition).bodies[0])
    graph.driver("cuGraphDestroyNode", node)
    assert graph.driver.result("cuGraphDestroy", first) == INVALID_VALUE, (
        "bodies are destroyed with their node"
    )


def test_capture_into_body_adds_nodes(graph: Graph) -> None:
    driver = graph.driver
    if driver.result("cuStreamBeginCaptureToGraph", None, None, None, None, ctypes.c_size_t(0), 0) == 801:
        pytest.skip("built with a header before CUDA 12.3")
    (body,) = add_bodies(graph, describe_condition(graph, create_handle(graph, 1), IF), 1)
    stream, captured = driver.handle("cuStreamCreate", 1), ctypes.c_void_p()
    driver("cuStreamBeginCaptureToGraph", stream, body.handle, None, None, ctypes.c_size_t(0), 0)
    driver("cuMemsetD8Async", graph.memory, 3, ctypes.c_size_t(4), stream)
    driver("cuStreamEndCapture", stream, ctypes.byref(captured))
    graph.run()
    assert graph.number() == 0x03030303
