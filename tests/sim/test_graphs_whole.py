"""Graphs and executable graphs as a whole: flags, instantiation results, user objects, ids, DOT output.

The results are those of driver 580 on an H200.
"""

from __future__ import annotations

import ctypes
import re
import threading
from pathlib import Path

import pytest

from .conftest import Driver
from .graphs import HOST_FUNCTION, INVALID_VALUE, Graph, Instantiation, nodes

AUTO_FREE, UPLOAD, DEVICE_LAUNCH, NODE_PRIORITY = 1, 2, 4, 8
ERROR, INVALID_STRUCTURE, OPERATION_NOT_SUPPORTED = 1, 2, 3


@pytest.fixture
def graph(driver: Driver) -> Graph:
    return Graph.make(driver)


def instantiate(graph: Graph, flags: int, suffix: str = "") -> tuple[int, int | None, int]:
    parameters = Instantiation(flags=flags, node=1, result=99)
    handle = ctypes.c_void_p()
    result = graph.driver.result(
        f"cuGraphInstantiateWithParams{suffix}", ctypes.byref(handle), graph.handle, ctypes.byref(parameters)
    )
    if result == 0:
        assert graph.launch(handle) == 0
    return result, parameters.node, parameters.result


@pytest.mark.parametrize(
    ("flags", "plain", "by_parameters"),
    [
        (AUTO_FREE, 0, 0),
        (UPLOAD, INVALID_VALUE, 0),
        (DEVICE_LAUNCH, 0, 0),
        (AUTO_FREE | DEVICE_LAUNCH, INVALID_VALUE, INVALID_VALUE),
        (NODE_PRIORITY, 0, 0),
        (16, INVALID_VALUE, INVALID_VALUE),
    ],
)
def test_instantiation_flags_are_checked(graph: Graph, flags: int, plain: int, by_parameters: int) -> None:
    graph.store(1)
    assert graph.instantiate_result(flags) == plain
    for suffix in ("", "_ptsz"):
        outcome = instantiate(graph, flags, suffix)
        assert outcome == (by_parameters, None, ERROR if by_parameters else 0)


def test_executable_graph_returns_flags(graph: Graph) -> None:
    graph.store(1)
    actual = ctypes.c_uint64(99)
    for flags, values in ((AUTO_FREE, AUTO_FREE), (DEVICE_LAUNCH, DEVICE_LAUNCH), (NODE_PRIORITY, 0)):
        graph.driver("cuGraphExecGetFlags", graph.instantiate(flags), ctypes.byref(actual))
        assert actual.value == values


def test_failed_instantiation_reports_node_and_reason(graph: Graph) -> None:
    assert instantiate(graph, DEVICE_LAUNCH) == (INVALID_VALUE, None, ERROR), "empty graph"
    first = graph.empty()
    second = graph.empty(first)
    pair = nodes(second)[0], *nodes(first)
    graph.driver("cuGraphAddDependencies", graph.handle, *pair)
    assert instantiate(graph, 0) == (INVALID_VALUE, second.value, INVALID_STRUCTURE)
    other = graph.inside(graph.driver.handle("cuGraphCreate", 0))
    host = other.host(HOST_FUNCTION(lambda _: None))
    assert instantiate(other, DEVICE_LAUNCH) == (INVALID_VALUE, host.value, OPERATION_NOT_SUPPORTED)
    handle, node = ctypes.c_void_p(), ctypes.c_void_p(1)
    log = ctypes.create_string_buffer(b"x", 8)
    for name in ("cuGraphInstantiate", "cuGraphInstantiate_v2"):
        outputs = ctypes.byref(node), log, ctypes.c_size_t(8)
        assert graph.driver.result(name, ctypes.byref(handle), graph.handle, *outputs) == INVALID_VALUE
        assert (node.value, log.value) == (second.value, b"")


class Destroyed:
    """A destructor that keeps the arguments of its calls."""

    def __init__(self) -> None:
        self.data: list[int] = []
        self.called = threading.Event()
        self.function = HOST_FUNCTION(self._run)

    def _run(self, data: int) -> None:
        self.data.append(data)
        self.called.set()


def create_user_object(driver: Driver, destroyed: Destroyed, count: int = 1) -> ctypes.c_void_p:
    return driver.handle("cuUserObjectCreate", ctypes.c_void_p(7), destroyed.function, count, 1)


def test_user_object_is_destroyed_with_last_reference(driver: Driver) -> None:
    destroyed = Destroyed()
    user_object = create_user_object(driver, destroyed, 2)
    driver("cuUserObjectRetain", user_object, 3)
    driver("cuUserObjectRelease", user_object, 4)
    assert not destroyed.called.wait(0.05)
    driver("cuUserObjectRelease", user_object, 1)
    assert destroyed.called.wait(5)
    assert destroyed.data == [7]
    assert driver.result("cuUserObjectRetain", user_object, 1) == INVALID_VALUE


def test_user_object_is_referenced_by_graphs_and_clones(graph: Graph) -> None:
    driver, destroyed = graph.driver, Destroyed()
    user_object = create_user_object(driver, destroyed)
    driver("cuGraphRetainUserObject", graph.handle, user_object, 1, 1)  # moved
    clone = driver.handle("cuGraphClone", graph.handle)
    executable = graph.instantiate()
    driver("cuGraphDestroy", graph.handle)
    driver("cuGraphExecDestroy", executable)
    assert not destroyed.called.wait(0.05)
    driver("cuGraphDestroy", clone)
    assert destroyed.called.wait(5)


def test_executable_graph_keeps_user_object_alive(graph: Graph) -> None:
    driver, destroyed = graph.driver, Destroyed()
    user_object = create_user_object(driver, destroyed)
    driver("cuGraphRetainUserObject", graph.handle, user_object, 2, 0)
    driver("cuUserObjectRelease", user_object, 1)
    executable = graph.instantiate()
    driver("cuGraphReleaseUserObject", graph.handle, user_object, 2)
    driver("cuGraphDestroy", graph.handle)
    assert not destroyed.called.wait(0.05)
    driver("cuGraphExecDestroy", executable)
    assert destroyed.called.wait(5)


def test_user_object_arguments_are_checked(graph: Graph) -> None:
    driver, destroyed = graph.driver, Destroyed()
    user_object, out = create_user_object(driver, destroyed), ctypes.byref(ctypes.c_void_p())
    for count, flags in ((1, 0), (0, 1), (1, 2)):
        result = driver.result("cuUserObjectCreate", out, None, destroyed.function, count, flags)
        assert result == INVALID_VALUE
    assert driver.result("cuUserObjectCreate", out, None, None, 1, 1) == INVALID_VALUE
    for count in (0, 1 << 31):
        assert driver.result("cuUserObjectRetain", user_object, count) == INVALID_VALUE
        assert driver.result("cuUserObjectRelease", user_object, count) == INVALID_VALUE
        assert driver.result("cuGraphRetainUserObject", graph.handle, user_object, count, 0) == INVALID_VALUE
        assert driver.result("cuGraphReleaseUserObject", graph.handle, user_object, count) == INVALID_VALUE
    assert driver.result("cuGraphRetainUserObject", graph.handle, user_object, 1, 2) == INVALID_VALUE
    assert driver.result("cuGraphReleaseUserObject", graph.handle, user_object, 1) == 0, (
        "releasing an unowned reference is not an error"
    )
    assert not destroyed.called.is_set()


def test_graph_ids_are_unique(graph: Graph) -> None:
    if not hasattr(graph.driver.library, "cuGraphGetId"):
        pytest.skip("the header is older than 13.1")
    driver = graph.driver
    graph.empty()
    second = graph.empty()
    local, tools, owner = ctypes.c_uint(9), ctypes.c_ulonglong(), ctypes.c_void_p()
    driver("cuGraphNodeGetLocalId", second, ctypes.byref(local))
    driver("cuGraphNodeGetToolsId", second, ctypes.byref(tools))
    driver("cuGraphNodeGetContainingGraph", second, ctypes.byref(owner))
    assert (local.value, owner.value) == (1, graph.handle.value)
    graph_id, executable_id, other_id = ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint()
    driver("cuGraphGetId", graph.handle, ctypes.byref(graph_id))
    driver("cuGraphGetId", driver.handle("cuGraphCreate", 0), ctypes.byref(other_id))
    driver("cuGraphExecGetId", graph.instantiate(), ctypes.byref(executable_id))
    assert graph_id.value != other_id.value
    assert executable_id.value != 0
    assert driver.result("cuGraphGetId", graph.handle, None) == INVALID_VALUE
    assert driver.result("cuGraphNodeGetLocalId", None, ctypes.byref(local)) == INVALID_VALUE


def test_dot_output_contains_every_node_and_edge(graph: Graph, tmp_path: Path) -> None:
    driver = graph.driver
    allocation, address = graph.allocate()
    store = graph.kernel(graph.store_parameters(1, at=address), allocation)
    chain = graph.memcpy(graph.memset(store))
    chain = graph.host(HOST_FUNCTION(lambda _: None), chain)
    event = driver.handle("cuEventCreate", 2)
    chain = driver.handle("cuGraphAddEventRecordNode", graph.handle, *nodes(chain), event)
    chain = driver.handle("cuGraphAddEventWaitNode", graph.handle, *nodes(chain), event)
    chain = graph.empty(chain)
    child = graph.inside(driver.handle("cuGraphCreate", 0))
    child.store(1)
    driver.handle("cuGraphAddChildGraphNode", graph.handle, *nodes(chain), child.handle)
    assert graph.free_result(address, chain) == 0
    path = tmp_path / "graph.dot"
    driver("cuGraphDebugDotPrint", graph.handle, str(path).encode(), 0)
    text = path.read_text()
    assert text.startswith("digraph dot {\nsubgraph cluster_")
    number = int(re.findall(r"cluster_(\d+)", text)[0])
    labels = re.findall(rf'^"graph_{number}_node_(\d+)"\[.*?label="\d+\n(.*?)\n', text, re.MULTILINE)
    assert [name for _, name in labels][:8] == [
        "MEM_ALLOC",
        "store",
        "MEMSET",
        "MEMCPY",
        "HOST",
        "EVENT_RECORD",
        "EVENT_WAIT",
        "EMPTY",
    ]
    assert [int(index) for index, _ in labels] == list(range(10))
    assert "(DtoD,16)" in text
    assert text.count(" -> ") == 9
    assert len(re.findall(r"subgraph cluster_", text)) == 2
    driver("cuGraphDebugDotPrint", graph.handle, str(path).encode(), 1)
    verbose = path.read_text()
    assert "store\\<\\<\\<1,1,0\\>\\>\\>" in verbose
    assert f"dptr: 0x{address:016X}" in verbose
    missing = str(tmp_path / "none" / "graph.dot").encode()
    assert driver.result("cuGraphDebugDotPrint", graph.handle, missing, 0) == 304
    assert driver.result("cuGraphDebugDotPrint", graph.handle, None, 0) == INVALID_VALUE
