"""Nodes of any type through CUgraphNodeParams, and attributes of kernel nodes.

The results are those of driver 580 on an H200.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import pytest

from .conftest import STORE, Driver
from .graphs import (
    INVALID_CONTEXT,
    INVALID_VALUE,
    NOT_SUPPORTED,
    Edge,
    Graph,
    Kernel,
    Memset,
    Node,
    nodes,
)

KERNEL, MEMCPY, MEMSET, HOST, CHILD, EMPTY, WAIT, RECORD = range(8)
SIGNAL, ALLOCATION = 8, 10
COOPERATIVE, SYNC_POLICY, CLUSTER, PRIORITY, DOMAINS, UPDATABLE, CARVEOUT = 2, 3, 4, 8, 9, 13, 14
INVALID_CLUSTER_SIZE = 912


@pytest.fixture
def graph(driver: Driver) -> Graph:
    return Graph.make(driver)


class MemcpyNode(ctypes.Structure):
    _fields_ = (
        ("flags", ctypes.c_int),
        ("reserved", ctypes.c_int),
        ("context", ctypes.c_void_p),
        ("copy", ctypes.c_ubyte * 200),
    )

    @classmethod
    def of(cls, graph: Graph, flags: int = 0) -> MemcpyNode:
        result = cls(flags=flags, context=graph.context.value)
        ctypes.memmove(result.copy, ctypes.byref(graph.memcpy_parameters()), 200)
        return result


def test_kernel_node_can_be_added_changed_and_run(graph: Graph) -> None:
    node = graph.add(Node.of(KERNEL, graph.store_parameters(1)))
    executable = graph.instantiate()
    graph.driver("cuGraphNodeSetParams", node, ctypes.byref(Node.of(KERNEL, graph.store_parameters(2))))
    changed = ctypes.byref(Node.of(KERNEL, graph.store_parameters(3)))
    graph.driver("cuGraphExecNodeSetParams", executable, node, changed)
    assert graph.launch(executable) == 0
    assert graph.number() == 3
    graph.run()
    assert graph.number() == 2


def test_parameters_of_other_type_are_refused(graph: Graph) -> None:
    node = graph.store(1)
    executable = graph.instantiate()
    wrong = ctypes.byref(Node.of(MEMSET, graph.memset_parameters()))
    assert graph.driver.result("cuGraphNodeSetParams", node, wrong) == INVALID_VALUE
    assert graph.driver.result("cuGraphExecNodeSetParams", executable, node, wrong) == INVALID_VALUE


def dirty_first(node: Node) -> None:
    node.reserved0[0] = 1


def dirty_member(node: Node) -> None:
    node.member[160] = 1


def dirty_last(node: Node) -> None:
    node.reserved2 = 1


@pytest.mark.parametrize("dirty", [dirty_first, dirty_member, dirty_last])
def test_nonzero_unused_bytes_are_refused(graph: Graph, dirty: Callable[[Node], None]) -> None:
    parameters = Node.of(KERNEL, graph.store_parameters(1))
    assert graph.add_result(parameters) == 0
    dirty(parameters)
    assert graph.add_result(parameters) == INVALID_VALUE


def test_unsupported_node_types_are_refused(graph: Graph) -> None:
    assert graph.add_result(Node.of(EMPTY)) == 0
    assert graph.add_result(Node.of(SIGNAL)) == NOT_SUPPORTED, "external semaphores are not supported"
    for unknown in (14, 15, 99):
        assert graph.add_result(Node.of(unknown)) == INVALID_VALUE


def test_memcpy_and_memset_nodes_can_be_added_and_changed(graph: Graph) -> None:
    assert graph.add_result(Node.of(MEMCPY, MemcpyNode.of(graph))) == 0
    assert graph.add_result(Node.of(MEMCPY, MemcpyNode.of(graph, flags=1))) == INVALID_VALUE
    node = graph.add(Node.of(MEMSET, graph.memset_parameters(value=4)))
    executable = graph.instantiate()
    changed = ctypes.byref(Node.of(MEMSET, graph.memset_parameters(value=5)))
    graph.driver("cuGraphExecNodeSetParams", executable, node, changed)
    assert graph.launch(executable) == 0
    assert graph.number() == 0x05050505
    wrong = Node.of(MEMSET, graph.memset_parameters())
    wrong.member[ctypes.sizeof(Memset) - 8] = 1  # without a context
    assert graph.add_result(wrong) == INVALID_CONTEXT


def test_dependency_data_is_checked_and_returned(graph: Graph) -> None:
    first = graph.store(1)
    parameters, edge, handle = Node.of(KERNEL, graph.store_parameters(2)), Edge(1, 0, 1), ctypes.c_void_p()
    arguments = (
        graph.handle,
        nodes(first)[0],
        ctypes.byref(edge),
        ctypes.c_size_t(1),
        ctypes.byref(parameters),
    )
    assert graph.driver.result("cuGraphAddNode_v2", ctypes.byref(handle), *arguments) == 0
    graph.run()
    assert graph.number() == 2
    edge.to_port = 1
    count = ctypes.c_size_t()
    assert graph.driver.result("cuGraphAddNode_v2", ctypes.byref(handle), *arguments) == INVALID_VALUE
    graph.driver("cuGraphGetNodes", graph.handle, None, ctypes.byref(count))
    assert count.value == 2, "a refused node is removed"


def test_first_version_adds_nodes(graph: Graph) -> None:
    parameters = Node.of(KERNEL, graph.store_parameters(8))
    graph.driver.handle("cuGraphAddNode", graph.handle, *nodes(), ctypes.byref(parameters))
    graph.run()
    assert graph.number() == 8


def test_parameters_round_trip(graph: Graph) -> None:
    if not hasattr(graph.driver.library, "cuGraphNodeGetParams"):
        pytest.skip("the header is older than 13.2")
    actual = Node()
    for node, kind in ((graph.store(6), KERNEL), (graph.memset(value=3), MEMSET), (graph.empty(), EMPTY)):
        graph.driver("cuGraphNodeGetParams", node, ctypes.byref(actual))
        assert actual.kind == kind
        if kind == KERNEL:
            assert ctypes.c_uint.from_address(actual.read(Kernel).parameters[1]).value == 6
        elif kind == MEMSET:
            assert (actual.read(Memset).value, actual.read(Memset).context) == (3, graph.context.value)
    assert graph.driver.result("cuGraphNodeGetParams", None, ctypes.byref(actual)) == INVALID_VALUE


def test_newest_version_compares_contexts(graph: Graph) -> None:
    driver = graph.driver
    if not hasattr(driver.library, "cuGraphAddNode_v3"):
        pytest.skip("the header is older than 13.4")
    parameters, handle = graph.store_parameters(1), ctypes.c_void_p()
    here = graph.context
    other = driver.handle("cuCtxCreate_v4", None, 0, 0)
    driver("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))
    for context, expected in ((None, 0), (here.value, 0), (other.value, INVALID_CONTEXT)):
        parameters.context = context
        arguments = graph.handle, None, None, ctypes.c_size_t(0), ctypes.byref(Node.of(KERNEL, parameters))
        assert driver.result("cuGraphAddNode_v3", ctypes.byref(handle), *arguments) == expected
        changed = ctypes.byref(Node.of(KERNEL, parameters))
        assert driver.result("cuGraphNodeSetParams_v2", handle, changed) == expected
    driver("cuCtxDestroy_v2", other)


def query_attribute(graph: Graph, node: ctypes.c_void_p, which: int) -> int:
    value = (ctypes.c_int * 16)(*[-1] * 16)
    graph.driver("cuGraphKernelNodeGetAttribute", node, which, value)
    return value[0]


def set_result(graph: Graph, node: ctypes.c_void_p, which: int, *numbers: int) -> int:
    value = (ctypes.c_int * 16)(*numbers)
    return graph.driver.result("cuGraphKernelNodeSetAttribute", node, which, value)


def test_kernel_node_attributes_round_trip(graph: Graph) -> None:
    node = graph.store(1)
    assert query_attribute(graph, node, COOPERATIVE) == 0
    assert query_attribute(graph, node, DOMAINS) & 0xFFFF == 0x100
    for which, numbers, expected in (
        (COOPERATIVE, (1,), 0),
        (PRIORITY, (-1,), 0),
        (CLUSTER, (2, 1, 1), INVALID_CLUSTER_SIZE),
        (CLUSTER, (0, 1, 1), INVALID_CLUSTER_SIZE),
        (CLUSTER, (1, 1, 1), 0),
        (CARVEOUT, (50,), 0),
        (CARVEOUT, (200,), INVALID_VALUE),
        (SYNC_POLICY, (1,), INVALID_VALUE),
        (50, (1,), INVALID_VALUE),
        (UPDATABLE, (1,), NOT_SUPPORTED),
    ):
        assert set_result(graph, node, which, *numbers) == expected
    assert (query_attribute(graph, node, COOPERATIVE), query_attribute(graph, node, CARVEOUT)) == (1, 50)
    assert set_result(graph, node, PRIORITY, 99) == 0
    assert query_attribute(graph, node, PRIORITY) == 0, "clamped to the lowest priority"
    buffer = (ctypes.c_int * 16)()
    get = "cuGraphKernelNodeGetAttribute"
    assert graph.driver.result(get, node, SYNC_POLICY, buffer) == INVALID_VALUE
    assert graph.driver.result(get, graph.memset(), COOPERATIVE, buffer) == INVALID_VALUE


def test_attributes_survive_copy_and_clone(graph: Graph) -> None:
    driver = graph.driver
    first, second = graph.store(1), graph.store(2)
    assert set_result(graph, first, COOPERATIVE, 1) == 0
    assert set_result(graph, first, PRIORITY, -1) == 0
    driver("cuGraphKernelNodeCopyAttributes", second, first)
    clone = driver.handle("cuGraphClone", graph.handle)
    twin = driver.handle("cuGraphNodeFindInClone", second, clone)
    for node in (second, twin):
        assert (query_attribute(graph, node, COOPERATIVE), query_attribute(graph, node, PRIORITY)) == (1, -1)
    assert driver.result("cuGraphKernelNodeCopyAttributes", graph.memset(), first) == INVALID_VALUE


def test_captured_kernel_has_stream_priority(driver: Driver) -> None:
    graph = Graph.make(driver)
    stream = driver.handle("cuStreamCreateWithPriority", 1, -1)
    function = driver.function(STORE, "nothing")
    captured, node, count = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t(1)
    driver("cuStreamBeginCapture_v2", stream, 0)
    driver("cuLaunchCooperativeKernel", function, 1, 1, 1, 1, 1, 1, 0, stream, None)
    driver("cuStreamEndCapture", stream, ctypes.byref(captured))
    driver("cuGraphGetNodes", captured, ctypes.byref(node), ctypes.byref(count))
    assert (query_attribute(graph, node, PRIORITY), query_attribute(graph, node, COOPERATIVE)) == (-1, 1)
