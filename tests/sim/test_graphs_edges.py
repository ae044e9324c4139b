"""Dependencies and their data. The results are those of driver 580 on an H200."""

from __future__ import annotations

import ctypes
import itertools
from typing import Any

import pytest

from .conftest import Driver
from .graphs import INVALID_VALUE, LOSSY_QUERY, NOT_SUPPORTED, Allocation, Edge, Graph, nodes

PLAIN, PROGRAMMATIC, LAUNCH_ORDER = (0, 0, 0), (1, 0, 1), (2, 0, 0)


@pytest.fixture
def graph(driver: Driver) -> Graph:
    return Graph.make(driver)


def add_dependency(
    graph: Graph, first: ctypes.c_void_p, second: ctypes.c_void_p, data: tuple[int, int, int] | None = None
) -> int:
    pair = nodes(first)[0], nodes(second)[0]
    if data is None:
        return graph.driver.result("cuGraphAddDependencies", graph.handle, *pair, ctypes.c_size_t(1))
    edge = ctypes.byref(Edge(*data))
    return graph.driver.result("cuGraphAddDependencies_v2", graph.handle, *pair, edge, ctypes.c_size_t(1))


def remove_dependency(
    graph: Graph, first: ctypes.c_void_p, second: ctypes.c_void_p, data: tuple[int, int, int] | None = None
) -> int:
    pair = nodes(first)[0], nodes(second)[0]
    if data is None:
        return graph.driver.result("cuGraphRemoveDependencies", graph.handle, *pair, ctypes.c_size_t(1))
    edge = ctypes.byref(Edge(*data))
    return graph.driver.result("cuGraphRemoveDependencies_v2", graph.handle, *pair, edge, ctypes.c_size_t(1))


def list_edges(graph: Graph, call: str, node: ctypes.c_void_p, room: int = 4) -> list[int | None]:
    result, count = (ctypes.c_void_p * room)(*[1] * room), ctypes.c_size_t(room)
    graph.driver(call, node, result, ctypes.byref(count))
    assert all(item is None for item in result[count.value :])
    return list(result[: count.value])


def test_dependencies_and_dependents_are_listed(graph: Graph) -> None:
    a = graph.empty()
    b, c = graph.empty(a), graph.empty(a)
    d = graph.empty(b, c)
    assert list_edges(graph, "cuGraphNodeGetDependencies", d) == [b.value, c.value]
    assert list_edges(graph, "cuGraphNodeGetDependentNodes", a) == [b.value, c.value]
    assert list_edges(graph, "cuGraphNodeGetDependentNodes", a, 1) == [b.value]
    assert list_edges(graph, "cuGraphNodeGetDependentNodes", d) == []
    graph.driver("cuGraphDestroyNode", b)
    assert list_edges(graph, "cuGraphNodeGetDependencies", d) == [c.value]
    assert list_edges(graph, "cuGraphNodeGetDependentNodes", a) == [c.value]
    assert graph.driver.result("cuGraphDestroyNode", b) == INVALID_VALUE
    count = ctypes.c_size_t()
    graph.driver("cuGraphGetNodes", graph.handle, None, ctypes.byref(count))
    assert count.value == 3


def test_invalid_dependencies_are_refused(graph: Graph) -> None:
    a = graph.empty()
    b = graph.empty(a)
    stranger = graph.inside(graph.driver.handle("cuGraphCreate", 0)).empty()
    assert add_dependency(graph, a, b) == INVALID_VALUE, "duplicate edge"
    assert add_dependency(graph, a, a) == INVALID_VALUE
    assert add_dependency(graph, a, stranger) == INVALID_VALUE
    handle = ctypes.byref(ctypes.c_void_p())
    assert graph.driver.result("cuGraphAddEmptyNode", handle, graph.handle, *nodes(a, a)) == INVALID_VALUE
    assert add_dependency(graph, b, a) == 0, "instantiation finds cycles"
    assert graph.instantiate_result() == INVALID_VALUE
    assert remove_dependency(graph, b, a) == 0
    assert remove_dependency(graph, b, a) == INVALID_VALUE
    assert graph.instantiate_result() == 0


def test_removed_dependency_removes_order(graph: Graph) -> None:
    """Dependencies alone decide the order, not the order of creation."""
    late = graph.store(1)
    early = graph.store(2)
    assert add_dependency(graph, early, late) == 0
    graph.run()
    assert graph.number() == 1
    assert remove_dependency(graph, early, late) == 0
    assert add_dependency(graph, late, early) == 0
    graph.run()
    assert graph.number() == 2


@pytest.mark.parametrize(
    ("data", "kernels", "to_memset"),
    [
        (PLAIN, 0, 0),
        (PROGRAMMATIC, 0, INVALID_VALUE),
        (LAUNCH_ORDER, 0, 0),
        ((2, 0, 1), 0, INVALID_VALUE),
        ((3, 0, 0), INVALID_VALUE, INVALID_VALUE),
        ((0, 1, 0), INVALID_VALUE, INVALID_VALUE),
        ((0, 0, 2), INVALID_VALUE, INVALID_VALUE),
        ((1, 0, 0), INVALID_VALUE, INVALID_VALUE),
        ((0, 0, 1), INVALID_VALUE, INVALID_VALUE),
    ],
)
def test_dependency_data_is_checked(
    graph: Graph, data: tuple[int, int, int], kernels: int, to_memset: int
) -> None:
    a, b, s = graph.store(1), graph.store(2), graph.memset()
    assert add_dependency(graph, a, b, data) == kernels
    assert add_dependency(graph, a, s, data) == to_memset
    assert add_dependency(graph, s, b, data) == (0 if data == PLAIN else INVALID_VALUE), (
        "only kernels have ports"
    )


def test_query_without_data_refuses_lossy_edges(graph: Graph) -> None:
    driver = graph.driver
    a, b = graph.store(1), graph.store(2)
    assert add_dependency(graph, a, b, PROGRAMMATIC) == 0
    assert add_dependency(graph, a, b) == INVALID_VALUE
    result, count = (ctypes.c_void_p * 2)(), ctypes.c_size_t(2)
    both: tuple[Any, ...] = result, ctypes.byref(count)
    assert driver.result("cuGraphNodeGetDependencies", b, *both) == LOSSY_QUERY
    assert driver.result("cuGraphNodeGetDependentNodes", a, *both) == LOSSY_QUERY
    others = (ctypes.c_void_p * 2)()
    assert driver.result("cuGraphGetEdges", graph.handle, others, *both) == LOSSY_QUERY
    assert driver.result("cuGraphGetEdges", graph.handle, None, None, ctypes.byref(count)) == 0
    assert count.value == 1
    edges = (Edge * 2)()
    count.value = 2
    driver("cuGraphGetEdges_v2", graph.handle, others, result, edges, ctypes.byref(count))
    assert (others[0], result[0], edges[0].from_port, edges[0].kind) == (a.value, b.value, 1, 1)
    assert (count.value, others[1]) == (1, None)
    driver("cuGraphNodeGetDependencies_v2", b, result, edges, ctypes.byref(count))
    assert edges[0].from_port == 1
    driver("cuGraphNodeGetDependentNodes_v2", a, result, edges, ctypes.byref(count))
    assert (result[0], edges[0].from_port) == (b.value, 1)
    empty = driver.result("cuGraphGetEdges_v2", graph.handle, None, None, edges, ctypes.byref(count))
    assert empty == INVALID_VALUE
    assert remove_dependency(graph, a, b, PLAIN) == INVALID_VALUE
    assert remove_dependency(graph, a, b, PROGRAMMATIC) == 0


def test_first_version_removes_edges_with_any_data(graph: Graph) -> None:
    a, b = graph.store(1), graph.store(2)
    assert add_dependency(graph, a, b, PROGRAMMATIC) == 0
    assert remove_dependency(graph, a, b) == 0
    assert remove_dependency(graph, a, b, PROGRAMMATIC) == INVALID_VALUE


def test_clone_keeps_edges_and_maps_nodes(graph: Graph) -> None:
    driver = graph.driver
    late = graph.store(1)
    early = graph.store(2)
    assert add_dependency(graph, early, late) == 0
    clone = graph.inside(driver.handle("cuGraphClone", graph.handle))
    twin = driver.handle("cuGraphNodeFindInClone", late, clone.handle)
    assert twin.value != late.value
    assert len(list_edges(clone, "cuGraphNodeGetDependencies", twin)) == 1
    driver("cuGraphKernelNodeSetParams_v2", twin, ctypes.byref(graph.store_parameters(7)))
    graph.run()
    assert graph.number() == 1
    clone.run()
    assert graph.number() == 7
    later = graph.empty()
    result = ctypes.byref(ctypes.c_void_p())
    assert driver.result("cuGraphNodeFindInClone", result, later, clone.handle) == INVALID_VALUE
    clone.empty()
    assert driver.result("cuGraphNodeFindInClone", result, later, clone.handle) == INVALID_VALUE
    driver("cuGraphDestroyNode", twin)
    assert driver.result("cuGraphNodeFindInClone", result, late, clone.handle) == INVALID_VALUE


def test_long_reversed_chain_instantiates(graph: Graph) -> None:
    """A deep graph must not overflow the stack."""
    items = [graph.empty() for _ in range(5000)]
    for later, earlier in itertools.pairwise(items):
        assert add_dependency(graph, earlier, later) == 0
    graph.run()


def test_child_graph_ends_with_its_node(graph: Graph) -> None:
    driver, handle = graph.driver, ctypes.c_void_p()
    child = graph.inside(driver.handle("cuGraphCreate", 0))
    original = child.store(1)
    node = driver.handle("cuGraphAddChildGraphNode", graph.handle, *nodes(), child.handle)
    embedded = graph.inside(0)
    driver("cuGraphChildGraphNodeGetGraph", node, ctypes.byref(embedded.handle))
    actual, count = ctypes.c_void_p(), ctypes.c_size_t(1)
    driver("cuGraphGetNodes", embedded.handle, ctypes.byref(actual), ctypes.byref(count))
    executable = graph.instantiate()
    changed = ctypes.byref(graph.store_parameters(2))
    driver("cuGraphExecKernelNodeSetParams_v2", executable, actual, changed)
    set_kernel = "cuGraphExecKernelNodeSetParams_v2"
    assert driver.result(set_kernel, executable, original, changed) == INVALID_VALUE, (
        "it was cloned into the node"
    )
    parameters = Allocation(kind=1, location=1, size=64)
    arguments = ctypes.byref(handle), embedded.handle, *nodes(), ctypes.byref(parameters)
    assert driver.result("cuGraphAddMemAllocNode", *arguments) == NOT_SUPPORTED
    assert embedded.instantiate_result() == NOT_SUPPORTED
    assert driver.result("cuGraphClone", ctypes.byref(handle), embedded.handle) == 0
    assert driver.result("cuGraphDestroy", embedded.handle) == INVALID_VALUE
    embedded.store(9, actual, offset=4)
    graph.run()
    assert graph.number(4) == 9, "changes of the embedded graph apply to the node"
    driver("cuGraphDestroyNode", actual)
    driver("cuGraphDestroy", graph.handle)
    assert driver.result("cuGraphDestroy", embedded.handle) == INVALID_VALUE
