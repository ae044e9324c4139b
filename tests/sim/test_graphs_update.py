"""Updates of executable graphs. The results are those of driver 580 on an H200."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import pytest

from .conftest import Driver
from .graphs import HOST_FUNCTION, INVALID_VALUE, UPDATE_FAILURE, Graph, Update, nodes

TOPOLOGY, TYPE, PARAMETERS, ATTRIBUTES = 2, 3, 5, 8
COOPERATIVE, PRIORITY = 2, 8

Nodes = dict[str, ctypes.c_void_p]


def add_chain(graph: Graph, value: int = 5, **changes: dict[str, int]) -> Nodes:
    a = graph.store(value)
    b = graph.memset(a, to=graph.memory.value + 64, **changes.get("memset", {}))
    c = graph.memcpy(b, **changes.get("memcpy", {}))
    d = graph.host(HOST_FUNCTION(lambda _: None), c)
    return {"a": a, "b": b, "c": c, "d": d}


def add_longer_chain(graph: Graph) -> Nodes:
    return {**(nodes := add_chain(graph)), "e": graph.empty(nodes["d"])}


def add_other_type(graph: Graph) -> Nodes:
    a = graph.store(1)
    b = graph.store(1, a)
    c = graph.memcpy(b)
    return {"a": a, "b": b, "c": c, "d": graph.host(HOST_FUNCTION(lambda _: None), c)}


def add_more_dependencies(graph: Graph) -> Nodes:
    a = graph.store(1)
    b, c = graph.memset(a), graph.memcpy(a)
    return {"a": a, "b": b, "c": c, "d": graph.host(HOST_FUNCTION(lambda _: None), c, b)}


def add_more_exits(graph: Graph) -> Nodes:
    a = graph.store(1)
    b, c = graph.memset(a), graph.memcpy(a)
    return {"a": a, "b": b, "c": c, "d": graph.host(HOST_FUNCTION(lambda _: None), c)}


def add_backwards(graph: Graph) -> Nodes:
    d = graph.host(HOST_FUNCTION(lambda _: None))
    c = graph.memcpy(d)
    b = graph.memset(c)
    return {"a": graph.store(1, b), "b": b, "c": c, "d": d}


def add_in_other_order(graph: Graph) -> Nodes:
    d, c, b, a = graph.host(HOST_FUNCTION(lambda _: None)), graph.memcpy(), graph.memset(), graph.store(1)
    for first, second in ((a, b), (b, c), (c, d)):
        graph.driver("cuGraphAddDependencies", graph.handle, nodes(first)[0], *nodes(second))
    return {"a": a, "b": b, "c": c, "d": d}


def set_attribute(graph: Graph, node: ctypes.c_void_p, which: int, value: int) -> None:
    number = (ctypes.c_int * 16)(value)
    graph.driver("cuGraphKernelNodeSetAttribute", node, which, number)


def add_cooperative(graph: Graph) -> Nodes:
    nodes = add_chain(graph)
    set_attribute(graph, nodes["a"], COOPERATIVE, 1)
    return nodes


def add_urgent(graph: Graph) -> Nodes:
    nodes = add_chain(graph)
    set_attribute(graph, nodes["a"], PRIORITY, -1)
    return nodes


def update(graph: Graph, executable: ctypes.c_void_p, made: Nodes) -> tuple[int, int, str | None]:
    actual = Update(result=77)
    result = graph.driver.result("cuGraphExecUpdate_v2", executable, graph.handle, ctypes.byref(actual))
    names = {node.value: name for name, node in made.items()}
    return result, actual.result, names.get(actual.node)


@pytest.fixture
def graph(driver: Driver) -> Graph:
    return Graph.make(driver)


FINE = (0, 0, None)
HOST_SIDE = {"from_type": 1, "from_device": 0}


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (add_chain, FINE),
        (lambda g: add_chain(g, 9), FINE),
        (lambda g: add_chain(g, memset={"width": 8}), FINE),
        (lambda g: add_chain(g, memset={"width": 2048}), FINE),
        (lambda g: add_chain(g, memset={"element": 4, "width": 4}), FINE),
        (lambda g: add_chain(g, memset={"height": 2, "pitch": 32}), (UPDATE_FAILURE, PARAMETERS, "b")),
        (lambda g: add_chain(g, memcpy={"width": 32}), FINE),
        (
            lambda g: add_chain(g, memcpy={"height": 2, "from_pitch": 32, "to_pitch": 32}),
            (UPDATE_FAILURE, PARAMETERS, "c"),
        ),
        (
            lambda g: add_chain(g, memcpy={**HOST_SIDE, "from_host": g.memory.value}),
            (UPDATE_FAILURE, PARAMETERS, "c"),
        ),
        (add_longer_chain, (UPDATE_FAILURE, TOPOLOGY, None)),
        (add_other_type, (UPDATE_FAILURE, TYPE, "b")),
        (add_more_dependencies, (UPDATE_FAILURE, TOPOLOGY, "d")),
        (add_more_exits, (UPDATE_FAILURE, TOPOLOGY, "b")),
        (add_backwards, (UPDATE_FAILURE, TYPE, "a")),
        (add_in_other_order, FINE),
        (add_cooperative, (UPDATE_FAILURE, ATTRIBUTES, "a")),
        (add_urgent, FINE),
    ],
)
def test_update_result_depends_on_change(
    graph: Graph, make: Callable[[Graph], Nodes], expected: tuple[int, int, str | None]
) -> None:
    add_chain(graph)
    executable = graph.instantiate()
    other = graph.inside(graph.driver.handle("cuGraphCreate", 0))
    nodes = make(other)
    assert update(other, executable, nodes) == expected


def test_node_priority_change_with_priority_flag_is_refused(graph: Graph) -> None:
    add_chain(graph)
    executable = graph.instantiate(8)
    other = graph.inside(graph.driver.handle("cuGraphCreate", 0))
    assert update(other, executable, add_urgent(other)) == (UPDATE_FAILURE, ATTRIBUTES, "a")


def test_update_is_atomic(graph: Graph) -> None:
    nodes = add_chain(graph, 5)
    executable = graph.instantiate()
    wrong = graph.inside(graph.driver.handle("cuGraphCreate", 0))
    add_chain(wrong, 7, memset={"height": 2, "pitch": 32})
    assert update(wrong, executable, {})[0] == UPDATE_FAILURE
    assert graph.launch(executable) == 0
    assert graph.number() == 5
    right = graph.inside(graph.driver.handle("cuGraphCreate", 0))
    add_chain(right, 8)
    assert update(right, executable, {}) == FINE
    assert graph.launch(executable) == 0
    assert graph.number() == 8
    changed = ctypes.byref(graph.store_parameters(9))
    graph.driver("cuGraphExecKernelNodeSetParams_v2", executable, nodes["a"], changed)
    assert graph.launch(executable) == 0
    assert graph.number() == 9, "nodes of the first graph still name its nodes"


def test_mismatched_dependency_is_reported(graph: Graph) -> None:
    """Two exits share a dependency in the executable graph, but not in the other."""
    shared, lone = graph.empty(), graph.empty()
    graph.empty(shared, lone)
    graph.empty(shared)
    executable = graph.instantiate()
    other = graph.inside(graph.driver.handle("cuGraphCreate", 0))
    first, second = other.empty(), other.empty()
    victim = other.empty(first, second)
    other.empty(second)
    actual = Update()
    result = graph.driver.result("cuGraphExecUpdate_v2", executable, other.handle, ctypes.byref(actual))
    assert (result, actual.result) == (UPDATE_FAILURE, TOPOLOGY)
    assert actual.node == victim.value
    assert actual.origin in (first.value, second.value)


def test_first_version_updates(graph: Graph) -> None:
    driver = graph.driver
    add_chain(graph)
    executable = graph.instantiate()
    other = graph.inside(driver.handle("cuGraphCreate", 0))
    nodes = add_other_type(other)
    node, result = ctypes.c_void_p(1), ctypes.c_int(77)
    outputs = ctypes.byref(node), ctypes.byref(result)
    assert driver.result("cuGraphExecUpdate", executable, other.handle, *outputs) == UPDATE_FAILURE
    assert (node.value, result.value) == (nodes["b"].value, TYPE)
    assert driver.result("cuGraphExecUpdate", executable, graph.handle, None, None) == 0
    assert driver.result("cuGraphExecUpdate_v2", executable, None, None) == INVALID_VALUE
    assert driver.result("cuGraphExecUpdate_v2", None, graph.handle, None) == INVALID_VALUE


def add_child(graph: Graph, value: int, count: int = 1) -> tuple[ctypes.c_void_p, Graph]:
    child = graph.inside(graph.driver.handle("cuGraphCreate", 0))
    for number in range(count):
        child.store(value, offset=4 * number)
    return (
        graph.driver.handle("cuGraphAddChildGraphNode", graph.handle, *nodes(), child.handle),
        child,
    )


def test_child_graph_updates_with_parent_and_alone(graph: Graph) -> None:
    driver = graph.driver
    node, _ = add_child(graph, 1)
    executable = graph.instantiate()
    other = graph.inside(driver.handle("cuGraphCreate", 0))
    add_child(other, 2)
    assert update(other, executable, {}) == FINE
    assert graph.launch(executable) == 0
    assert graph.number() == 2
    more = graph.inside(driver.handle("cuGraphCreate", 0))
    _, larger = add_child(more, 3, 2)
    assert update(more, executable, {}) == (UPDATE_FAILURE, TOPOLOGY, None)
    _, alone = add_child(graph.inside(driver.handle("cuGraphCreate", 0)), 4)
    driver("cuGraphExecChildGraphNodeSetParams", executable, node, alone.handle)
    assert graph.launch(executable) == 0
    assert graph.number() == 4
    set_child = "cuGraphExecChildGraphNodeSetParams"
    assert driver.result(set_child, executable, node, larger.handle) == UPDATE_FAILURE
    inner, count = ctypes.c_void_p(), ctypes.c_size_t(1)
    embedded = ctypes.c_void_p()
    driver("cuGraphChildGraphNodeGetGraph", node, ctypes.byref(embedded))
    driver("cuGraphGetNodes", embedded, ctypes.byref(inner), ctypes.byref(count))
    changed = ctypes.byref(graph.store_parameters(6))
    driver("cuGraphExecKernelNodeSetParams_v2", executable, inner, changed)
    assert graph.launch(executable) == 0
    assert graph.number() == 6
