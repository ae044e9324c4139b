"""Graphs made node by node."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from .conftest import INVALID_DEVICE_FUNCTION, INVALID_VALUE, Dim3, Hip, pointers_to
from .structures import HOST_FUNCTION, HostNode, KernelNode, MemsetNode, Pitched, Triple, Volume

KERNEL, MEMCPY, MEMSET, HOST, GRAPH, EMPTY, WAIT, RECORD = range(1, 9)
HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE = 1, 2, 3
UPDATE_FAILURE, TOPOLOGY_CHANGED = 910, 2
ONE = Dim3(1, 1, 1)


@dataclass
class Graph:
    hip: Hip
    handle: ctypes.c_void_p
    kept: list[Any] = field(default_factory=list)
    """The memory that the calls point to."""

    def add(self, kind: str, *arguments: Any, after: Sequence[Any] = ()) -> ctypes.c_void_p:
        dependencies = (ctypes.c_void_p * max(1, len(after)))(*(each.value for each in after))
        return self.hip.handle(
            f"hipGraphAdd{kind}Node", self.handle, dependencies, ctypes.c_size_t(len(after)), *arguments
        )

    def line(self, to: Any, source: Any, size: int, kind: int, after: Sequence[Any] = ()) -> ctypes.c_void_p:
        dependencies = (ctypes.c_void_p * max(1, len(after)))(*(each.value for each in after))
        return self.hip.handle(
            "hipGraphAddMemcpyNode1D", self.handle, dependencies, ctypes.c_size_t(len(after)), to, source,
            ctypes.c_size_t(size), kind,
        )  # fmt: skip

    def executable(self) -> ctypes.c_void_p:
        return self.hip.handle("hipGraphInstantiateWithFlags", self.handle, ctypes.c_ulonglong(0))

    def run(self, executable: Any = None) -> None:
        self.hip("hipGraphLaunch", executable or self.executable(), None)
        self.hip("hipDeviceSynchronize")


@pytest.fixture
def graph(hip: Hip) -> Graph:
    return Graph(hip, hip.handle("hipGraphCreate", 0))


def kernel_node(function: Any, to: Any, value: int) -> KernelNode:
    arguments = [to, ctypes.c_uint32(value)]
    node = KernelNode(ONE, None, function.value, ONE, pointers_to(arguments), 0)
    node.kept = arguments
    return node


def memset_node(to: Any, value: int, words: int) -> MemsetNode:
    return MemsetNode(to, 4, 1, 0, value, words)


def test_kernel_node_runs(hip: Hip, graph: Graph, store: Any) -> None:
    to = hip.zeroed(1)
    node = graph.add("Kernel", ctypes.byref(kernel_node(store, to, 6)))
    assert hip.asked("hipGraphNodeGetType", node) == KERNEL
    graph.run()
    assert hip.words(to, 1) == [6]


def test_kernel_node_accepts_packed_arguments(hip: Hip, graph: Graph, store: Any) -> None:
    to = hip.zeroed(1)
    buffer = (ctypes.c_uint64 * 2)(to.value, 12)
    size = ctypes.c_size_t(12)
    extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(buffer), 2, ctypes.addressof(size), 3)
    graph.add("Kernel", ctypes.byref(KernelNode(ONE, extra, store.value, ONE, None, 0)))
    graph.run()
    assert hip.words(to, 1) == [12]
    extra[4] = 0
    node, parameters = ctypes.c_void_p(), KernelNode(ONE, extra, store.value, ONE, None, 0)
    result = hip.result(
        "hipGraphAddKernelNode",
        ctypes.byref(node),
        graph.handle,
        None,
        ctypes.c_size_t(0),
        ctypes.byref(parameters),
    )
    assert result == INVALID_VALUE  # HIP's list ends with 3, not with CUDA's 0


def test_kernel_node_with_unknown_kernel_is_refused(hip: Hip, graph: Graph) -> None:
    node, parameters = ctypes.c_void_p(), KernelNode(ONE, None, ctypes.addressof(ONE), ONE, None, 0)
    result = hip.result(
        "hipGraphAddKernelNode",
        ctypes.byref(node),
        graph.handle,
        None,
        ctypes.c_size_t(0),
        ctypes.byref(parameters),
    )
    assert result == INVALID_DEVICE_FUNCTION


def test_kernel_node_parameters_are_read_and_changed(hip: Hip, graph: Graph, store: Any) -> None:
    to = hip.zeroed(1)
    node = graph.add("Kernel", ctypes.byref(kernel_node(store, to, 6)))
    actual = KernelNode()
    hip("hipGraphKernelNodeGetParams", node, ctypes.byref(actual))
    assert (actual.grid.x, actual.block.z, bool(actual.extra)) == (1, 1, False)
    changed = kernel_node(ctypes.c_void_p(actual.function), to, 7)
    hip("hipGraphKernelNodeSetParams", node, ctypes.byref(changed))
    executable = graph.executable()
    graph.run(executable)
    assert hip.words(to, 1) == [7]
    hip("hipGraphExecKernelNodeSetParams", executable, node, ctypes.byref(kernel_node(store, to, 8)))
    graph.run(executable)
    assert hip.words(to, 1) == [8]


def test_one_dimensional_copy_nodes_copy(hip: Hip, graph: Graph) -> None:
    source, back = (ctypes.c_uint32 * 4)(1, 2, 3, 4), (ctypes.c_uint32 * 4)()
    to, other = hip.zeroed(4), hip.zeroed(4)
    up = graph.line(to, source, 16, HOST_TO_DEVICE)
    across = graph.line(other, to, 16, DEVICE_TO_DEVICE, [up])
    down = graph.line(back, other, 16, DEVICE_TO_HOST, [across])
    assert hip.asked("hipGraphNodeGetType", down) == MEMCPY
    executable = graph.executable()
    graph.run(executable)
    assert list(back) == [1, 2, 3, 4]
    hip(
        "hipGraphExecMemcpyNodeSetParams1D",
        executable,
        up,
        to,
        ctypes.byref(source, 4),
        ctypes.c_size_t(12),
        HOST_TO_DEVICE,
    )
    graph.run(executable)
    assert list(back) == [2, 3, 4, 4]
    hip("hipGraphMemcpyNodeSetParams1D", up, to, ctypes.byref(source, 8), ctypes.c_size_t(8), HOST_TO_DEVICE)
    graph.run()
    assert list(back) == [3, 4, 4, 4]


def test_copy_node_copies_part_of_a_volume(hip: Hip, graph: Graph) -> None:
    """Rows 1 and 2 of 4 words of a matrix of 8, to the middle of another."""
    source, to = (ctypes.c_uint32 * 32)(*range(32)), hip.zeroed(64)
    copy = Volume(
        from_at=Triple(8, 1, 0),
        from_=Pitched(ctypes.addressof(source), 32, 32, 4),
        to_at=Triple(16, 2, 1),
        to=Pitched(to.value, 32, 32, 4),
        extent=Triple(16, 2, 1),
        kind=HOST_TO_DEVICE,
    )
    node = graph.add("Memcpy", ctypes.byref(copy))
    volume = Volume()
    hip("hipGraphMemcpyNodeGetParams", node, ctypes.byref(volume))
    assert (volume.from_.address, volume.to.address, volume.kind) == (
        ctypes.addressof(source),
        to.value,
        HOST_TO_DEVICE,
    )
    assert (volume.from_at.x, volume.to_at.z, volume.extent.y, volume.to.pitch, volume.to.height) == (
        8,
        1,
        2,
        32,
        4,
    )
    executable = graph.executable()
    graph.run(executable)
    words = hip.words(to, 64)
    assert [words[52:56], words[60:64]] == [[10, 11, 12, 13], [18, 19, 20, 21]]
    assert sum(map(bool, words)) == 8
    volume.from_at.x = 0
    hip("hipGraphMemcpyNodeSetParams", node, ctypes.byref(volume))
    hip("hipGraphExecMemcpyNodeSetParams", executable, node, ctypes.byref(volume))
    graph.run(executable)
    assert hip.words(to, 64)[52:56] == [8, 9, 10, 11]


def test_memset_node_sets_memory(hip: Hip, graph: Graph) -> None:
    to = hip.zeroed(4)
    node = graph.add("Memset", ctypes.byref(memset_node(to, 3, 2)))
    assert hip.asked("hipGraphNodeGetType", node) == MEMSET
    actual = MemsetNode()
    hip("hipGraphMemsetNodeGetParams", node, ctypes.byref(actual))
    assert (actual.to, actual.element, actual.value, actual.width, actual.height) == (to.value, 4, 3, 2, 1)
    executable = graph.executable()
    graph.run(executable)
    assert hip.words(to, 4) == [3, 3, 0, 0]
    hip("hipGraphExecMemsetNodeSetParams", executable, node, ctypes.byref(memset_node(to, 4, 2)))
    graph.run(executable)
    assert hip.words(to, 4) == [4, 4, 0, 0]
    hip("hipGraphMemsetNodeSetParams", node, ctypes.byref(memset_node(to, 5, 3)))
    graph.run()
    assert hip.words(to, 4) == [5, 5, 5, 0]


def test_host_node_calls_its_function(hip: Hip, graph: Graph) -> None:
    calls: list[int] = []
    functions = [HOST_FUNCTION(lambda data, add=add: calls.append(data + add)) for add in (0, 10)]
    nodes = [HostNode(ctypes.cast(each, ctypes.c_void_p), 5) for each in functions]
    node = graph.add("Host", ctypes.byref(nodes[0]))
    host_node = HostNode()
    hip("hipGraphHostNodeGetParams", node, ctypes.byref(host_node))
    assert (host_node.function, host_node.data) == (nodes[0].function, 5)
    executable = graph.executable()
    graph.run(executable)
    hip("hipGraphExecHostNodeSetParams", executable, node, ctypes.byref(nodes[1]))
    graph.run(executable)
    assert calls == [5, 15]


def test_child_graph_node_runs_its_graph(hip: Hip, graph: Graph) -> None:
    to, child = hip.zeroed(1), Graph(hip, hip.handle("hipGraphCreate", 0))
    child.add("Memset", ctypes.byref(memset_node(to, 2, 1)))
    node = graph.add("ChildGraph", child.handle)
    assert hip.asked("hipGraphNodeGetType", node) == GRAPH
    inner, count = hip.asked("hipGraphChildGraphNodeGetGraph", node, ctypes.c_void_p), ctypes.c_size_t()
    hip("hipGraphGetNodes", ctypes.c_void_p(inner), None, ctypes.byref(count))
    assert count.value == 1
    executable = graph.executable()
    graph.run(executable)
    assert hip.words(to, 1) == [2]
    other = Graph(hip, hip.handle("hipGraphCreate", 0))
    other.add("Memset", ctypes.byref(memset_node(to, 9, 1)))
    hip("hipGraphExecChildGraphNodeSetParams", executable, node, other.handle)
    graph.run(executable)
    assert hip.words(to, 1) == [9]


def test_event_nodes_record_and_wait(hip: Hip, graph: Graph) -> None:
    first, second = hip.handle("hipEventCreate"), hip.handle("hipEventCreate")
    wait = graph.add("EventWait", first)
    record = graph.add("EventRecord", first, after=[wait])
    types = [hip.asked("hipGraphNodeGetType", each) for each in (wait, record)]
    assert types == [WAIT, RECORD]
    hip("hipGraphEventRecordNodeSetEvent", record, second)
    assert hip.asked("hipGraphEventRecordNodeGetEvent", record, ctypes.c_void_p) == second.value
    assert hip.asked("hipGraphEventWaitNodeGetEvent", wait, ctypes.c_void_p) == first.value
    executable = graph.executable()
    hip("hipGraphExecEventWaitNodeSetEvent", executable, wait, second)
    hip("hipGraphExecEventRecordNodeSetEvent", executable, record, first)
    graph.run(executable)
    assert hip.result("hipEventQuery", first) == 0


def test_dependencies_are_added_listed_and_removed(hip: Hip, graph: Graph) -> None:
    first, second = graph.add("Empty"), graph.add("Empty")
    assert hip.asked("hipGraphNodeGetType", first) == EMPTY
    pair = [(ctypes.c_void_p * 1)(each.value) for each in (first, second)]
    hip("hipGraphAddDependencies", graph.handle, *pair, ctypes.c_size_t(1))
    sources, targets, count = (ctypes.c_void_p * 4)(), (ctypes.c_void_p * 4)(), ctypes.c_size_t(4)
    hip("hipGraphGetEdges", graph.handle, sources, targets, ctypes.byref(count))
    assert (count.value, sources[0], targets[0]) == (1, first.value, second.value)
    for name, of, other in (
        ("hipGraphNodeGetDependencies", second, first),
        ("hipGraphNodeGetDependentNodes", first, second),
        ("hipGraphGetRootNodes", graph.handle, first),
    ):
        count = ctypes.c_size_t(4)
        hip(name, of, sources, ctypes.byref(count))
        assert (count.value, sources[0]) == (1, other.value), name
    hip("hipGraphRemoveDependencies", graph.handle, *pair, ctypes.c_size_t(1))
    hip("hipGraphGetEdges", graph.handle, None, None, ctypes.byref(count))
    assert count.value == 0
    hip("hipGraphDestroyNode", second)
    hip("hipGraphGetNodes", graph.handle, None, ctypes.byref(count))
    assert count.value == 1


def test_cloned_graph_has_its_own_nodes(hip: Hip, graph: Graph) -> None:
    to = hip.zeroed(1)
    node = graph.add("Memset", ctypes.byref(memset_node(to, 3, 1)))
    clone = Graph(hip, hip.handle("hipGraphClone", graph.handle))
    actual = hip.handle("hipGraphNodeFindInClone", node, clone.handle)
    assert actual.value not in (None, node.value)
    hip("hipGraphDestroy", graph.handle)
    clone.run()
    assert hip.words(to, 1) == [3]


def test_executable_graph_is_updated(hip: Hip, graph: Graph) -> None:
    to, other = hip.zeroed(1), Graph(hip, hip.handle("hipGraphCreate", 0))
    graph.add("Memset", ctypes.byref(memset_node(to, 3, 1)))
    other.add("Memset", ctypes.byref(memset_node(to, 4, 1)))
    executable, node, result = graph.executable(), ctypes.c_void_p(), ctypes.c_int(-1)
    hip("hipGraphExecUpdate", executable, other.handle, ctypes.byref(node), ctypes.byref(result))
    assert result.value == 0
    graph.run(executable)
    assert hip.words(to, 1) == [4]
    other.add("Empty")
    code = hip.result(
        "hipGraphExecUpdate", executable, other.handle, ctypes.byref(node), ctypes.byref(result)
    )
    assert (code, result.value) == (UPDATE_FAILURE, TOPOLOGY_CHANGED)
    hip("hipGraphExecDestroy", executable)


def test_failed_instantiation_reports_no_node(hip: Hip) -> None:
    node, log = ctypes.c_void_p(1), ctypes.create_string_buffer(b"stale", 16)
    code = hip.result(
        "hipGraphInstantiate",
        ctypes.byref(ctypes.c_void_p()),
        None,
        ctypes.byref(node),
        log,
        ctypes.c_size_t(16),
    )
    assert (code, node.value, log.value) == (INVALID_VALUE, None, b"")
