"""Memory that graphs allocate and free. The results are those of driver 580 on an H200."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from .conftest import Driver
from .graphs import INVALID_VALUE, NOT_SUPPORTED, Allocation, Graph, Node, nodes
from .isolated import isolated

ILLEGAL_ADDRESS = 700
USED, USED_HIGH, RESERVED, RESERVED_HIGH = range(4)


@pytest.fixture
def graph(driver: Driver) -> Graph:
    return Graph.make(driver)


def query_attribute(driver: Driver, which: int) -> int:
    value = ctypes.c_uint64(1)
    driver("cuDeviceGetGraphMemAttribute", 0, which, ctypes.byref(value))
    return value.value


def build_freeing_graph(graph: Graph) -> tuple[ctypes.c_void_p, ctypes.c_void_p, int]:
    """Build a chain of allocation, store, copy and free."""
    allocation, address = graph.allocate()
    store = graph.kernel(graph.store_parameters(42, at=address), allocation)
    copy = graph.memcpy(store, from_device=address, to_device=graph.memory.value, width=4)
    assert graph.free_result(address, copy) == 0
    return allocation, store, address


def test_graph_memory_is_live_from_allocation_to_free(graph: Graph) -> None:
    _, _, address = build_freeing_graph(graph)
    executable = graph.instantiate()
    for _ in range(2):
        assert graph.launch(executable) == 0
        assert graph.number() == 42
    assert graph.launch(executable) == 0
    late = graph.inside(graph.driver.handle("cuGraphCreate", 0))
    late.kernel(late.store_parameters(1, at=address))
    assert graph.driver.result("cuGraphLaunch", late.instantiate(), None) == 0
    assert graph.driver.result("cuCtxSynchronize") == ILLEGAL_ADDRESS


def test_graph_with_memory_refuses_unsupported_calls(graph: Graph) -> None:
    driver = graph.driver
    allocation, store, address = build_freeing_graph(graph)
    handle = ctypes.byref(ctypes.c_void_p())
    other = driver.handle("cuGraphCreate", 0)
    assert driver.result("cuGraphClone", handle, graph.handle) == NOT_SUPPORTED
    assert driver.result("cuGraphAddChildGraphNode", handle, other, *nodes(), graph.handle) == NOT_SUPPORTED
    assert driver.result("cuGraphDestroyNode", store) == NOT_SUPPORTED
    assert (
        driver.result("cuGraphRemoveDependencies", graph.handle, nodes(allocation)[0], *nodes(store))
        == NOT_SUPPORTED
    )
    executable = graph.instantiate()
    assert graph.instantiate_result() == NOT_SUPPORTED
    driver("cuGraphExecDestroy", executable)
    assert graph.instantiate_result() == 0
    for wrong in (address, graph.memory.value, 12345, 0, address + 512):
        assert graph.free_result(wrong) == INVALID_VALUE
    assert graph.inside(other).free_result(address) == INVALID_VALUE
    for call in ("cuMemFree_v2", "cuMemFreeAsync"):
        assert driver.result(call, ctypes.c_uint64(address), None) == INVALID_VALUE


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"size": 0}, INVALID_VALUE),
        ({"kind": 0}, INVALID_VALUE),
        ({"location": 0}, INVALID_VALUE),
        ({"device": 99}, INVALID_VALUE),
        ({"handles": 1}, NOT_SUPPORTED),
        ({"size": 1 << 60}, 2),
    ],
)
def test_invalid_allocation_is_refused(graph: Graph, changes: dict[str, int], expected: int) -> None:
    parameters = Allocation(**{"kind": 1, "location": 1, "size": 64, **changes})
    handle = ctypes.byref(ctypes.c_void_p())
    result = graph.driver.result(
        "cuGraphAddMemAllocNode", handle, graph.handle, *nodes(), ctypes.byref(parameters)
    )
    assert result == expected


def test_unfreed_graph_memory_stays_allocated(graph: Graph) -> None:
    driver = graph.driver
    _, address = graph.allocate()
    executable = graph.instantiate()
    assert driver.result("cuMemFree_v2", ctypes.c_uint64(address)) == INVALID_VALUE, "not allocated yet"
    assert graph.launch(executable) == 0
    assert graph.launch(executable) == INVALID_VALUE
    driver("cuMemsetD8Async", ctypes.c_uint64(address), 3, ctypes.c_size_t(1024), None)
    assert driver.read(ctypes.c_uint64(address), 4) == b"\3" * 4
    driver("cuMemFreeAsync", ctypes.c_uint64(address), None)
    assert driver.result("cuMemFreeAsync", ctypes.c_uint64(address), None) == INVALID_VALUE
    assert graph.launch(executable) == 0
    driver("cuMemFree_v2", ctypes.c_uint64(address))
    assert driver.result("cuMemFree_v2", ctypes.c_uint64(address)) == INVALID_VALUE


def test_graph_memory_can_be_freed_by_another_graph(graph: Graph) -> None:
    driver = graph.driver
    allocation, address = graph.allocate()
    other = graph.inside(driver.handle("cuGraphCreate", 0))
    assert other.free_result(address) == 0
    assert graph.free_result(address, allocation) == INVALID_VALUE
    allocates, frees = graph.instantiate(), other.instantiate()
    assert other.launch(frees) == INVALID_VALUE
    for _ in range(2):
        assert graph.launch(allocates) == 0
        assert other.launch(frees) == 0
    assert other.launch(frees) == INVALID_VALUE


def test_auto_free_frees_memory_at_next_launch(graph: Graph) -> None:
    driver = graph.driver
    _, address = graph.allocate()
    executable = graph.instantiate(1)
    for _ in range(3):
        assert graph.launch(executable) == 0
    driver("cuGraphExecDestroy", executable)
    driver("cuGraphDestroy", graph.handle)
    assert driver.read(ctypes.c_uint64(address), 1), "the memory outlives its graph"
    driver("cuMemFree_v2", ctypes.c_uint64(address))
    assert driver.result("cuMemFree_v2", ctypes.c_uint64(address)) == INVALID_VALUE


def test_memory_node_returns_parameters(graph: Graph) -> None:
    driver = graph.driver
    allocation, address = graph.allocate(size=1000)
    assert graph.free_result(address, allocation) == 0
    actual, freed = Allocation(), ctypes.c_uint64()
    driver("cuGraphMemAllocNodeGetParams", allocation, ctypes.byref(actual))
    assert (actual.address, actual.size, actual.kind, actual.location) == (address, 1000, 1, 1)
    listed, count = (ctypes.c_void_p * 2)(), ctypes.c_size_t(2)
    driver("cuGraphGetNodes", graph.handle, listed, ctypes.byref(count))
    driver("cuGraphMemFreeNodeGetParams", ctypes.c_void_p(listed[1]), ctypes.byref(freed))
    assert freed.value == address
    assert driver.result("cuGraphMemFreeNodeGetParams", allocation, ctypes.byref(freed)) == INVALID_VALUE
    same = Node.of(10, actual)
    assert driver.result("cuGraphNodeSetParams", allocation, ctypes.byref(same)) == NOT_SUPPORTED


def test_captured_allocation_becomes_memory_nodes(graph: Graph) -> None:
    driver, stream = graph.driver, graph.driver.handle("cuStreamCreate", 1)
    address, captured = ctypes.c_uint64(), ctypes.c_void_p()
    driver("cuStreamBeginCapture_v2", stream, 0)
    driver("cuMemAllocAsync", ctypes.byref(address), ctypes.c_size_t(512), stream)
    driver("cuMemsetD8Async", address, 1, ctypes.c_size_t(512), stream)
    driver("cuMemcpyDtoDAsync_v2", graph.memory, address, ctypes.c_size_t(4), stream)
    driver("cuMemFreeAsync", address, stream)
    assert driver.result("cuMemFreeAsync", address, stream) == INVALID_VALUE
    assert driver.result("cuMemFreeAsync", graph.memory, stream) == INVALID_VALUE
    driver("cuStreamEndCapture", stream, ctypes.byref(captured))
    actual = graph.inside(captured)
    executable = actual.instantiate()
    for _ in range(2):
        assert actual.launch(executable) == 0
        assert graph.number() == 0x01010101


def test_memory_attributes_follow_trim(graph: Graph) -> None:
    driver = graph.driver
    driver("cuDeviceGraphMemTrim", 0)
    before = query_attribute(driver, USED)
    _, address = graph.allocate(size=1 << 20)
    assert graph.free_result(address) == 0
    executable = graph.instantiate()
    assert query_attribute(driver, RESERVED) == before
    driver("cuGraphUpload", executable, None)
    assert query_attribute(driver, RESERVED) - before >= 1 << 20
    assert graph.launch(executable) == 0
    assert query_attribute(driver, USED) - before >= 1 << 20
    driver("cuDeviceGraphMemTrim", 0)
    assert query_attribute(driver, USED) == before
    assert query_attribute(driver, USED_HIGH) - before >= 1 << 20
    zero, one = ctypes.c_uint64(0), ctypes.c_uint64(1)
    assert driver.result("cuDeviceSetGraphMemAttribute", 0, USED_HIGH, ctypes.byref(one)) == INVALID_VALUE
    assert driver.result("cuDeviceSetGraphMemAttribute", 0, USED, ctypes.byref(zero)) == INVALID_VALUE
    driver("cuDeviceSetGraphMemAttribute", 0, USED_HIGH, ctypes.byref(zero))
    assert query_attribute(driver, USED_HIGH) == before
    assert driver.result("cuDeviceGraphMemTrim", 9) == 101
    assert graph.launch(executable) == 0, "a launch restores trimmed memory"


def test_memory_is_released_with_its_graph(graph: Graph) -> None:
    driver = graph.driver

    def available() -> int:
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        driver("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value

    build_freeing_graph(graph)
    before = available()
    executable = graph.instantiate()
    assert available() == before, "only addresses are reserved"
    assert graph.launch(executable) == 0
    assert available() < before
    driver("cuGraphExecDestroy", executable)
    driver("cuGraphDestroy", graph.handle)
    assert available() == before


class Child(ctypes.Structure):
    _fields_ = (("graph", ctypes.c_void_p), ("ownership", ctypes.c_int))


def test_graph_with_memory_can_move_into_child_node(graph: Graph) -> None:
    driver = graph.driver
    build_freeing_graph(graph)
    parent = graph.inside(driver.handle("cuGraphCreate", 0))
    moved = Node.of(4, Child(graph.handle.value, 1))
    assert parent.add_result(moved) == 0
    other = graph.inside(driver.handle("cuGraphCreate", 0))
    assert other.add_result(moved) == NOT_SUPPORTED
    assert driver.result("cuGraphDestroy", graph.handle) == INVALID_VALUE
    assert graph.instantiate_result() == NOT_SUPPORTED
    more = Allocation(kind=1, location=1, size=64)
    handle = ctypes.byref(ctypes.c_void_p())
    assert (
        driver.result("cuGraphAddMemAllocNode", handle, graph.handle, *nodes(), ctypes.byref(more))
        == NOT_SUPPORTED
    )
    executable = parent.instantiate()
    assert parent.instantiate_result() == NOT_SUPPORTED
    assert parent.launch(executable) == 0
    assert graph.number() == 42
    driver("cuGraphExecDestroy", executable)
    driver("cuGraphDestroy", parent.handle)
    assert driver.result("cuGraphDestroy", graph.handle) == INVALID_VALUE, "destroyed with its parent"


def test_unfreed_graph_memory_ends_with_context(loaded: Driver) -> None:
    driver = loaded
    context = driver.handle("cuCtxCreate_v4", None, 0, 0)
    graph = Graph.make(driver)
    _, address = graph.allocate()
    executable = graph.instantiate()
    assert graph.launch(executable) == 0
    driver("cuGraphExecDestroy", executable)
    driver("cuGraphDestroy", graph.handle)
    driver("cuCtxDestroy_v2", context)
    again = driver.handle("cuCtxCreate_v4", None, 0, 0)
    assert driver.result("cuMemFree_v2", ctypes.c_uint64(address)) == INVALID_VALUE
    driver("cuCtxDestroy_v2", again)


def test_refused_launch_allocates_nothing(graph: Graph) -> None:
    driver, blocking = graph.driver, graph.driver.handle("cuStreamCreate", 0)
    graph.allocate()
    executable = graph.instantiate()
    driver("cuStreamBeginCapture_v2", blocking, 2)
    assert driver.result("cuGraphLaunch", executable, None) == 906
    driver.result("cuStreamEndCapture", blocking, ctypes.byref(ctypes.c_void_p()))
    assert graph.launch(executable) == 0


PAGES = """
from tests.sim.graphs import Graph
start()
graph = Graph.make(driver)
allocation, address = graph.allocate()
store = graph.kernel(graph.store_parameters(42, at=address), allocation)
copy = graph.memcpy(store, from_device=address, to_device=graph.memory.value, width=4)
{free}
executable = graph.instantiate()
driver("cuGraphLaunch", executable, None)
answer(driver.result("cuCtxSynchronize"))
answer(graph.number())
"""


def test_page_check_allows_live_graph_memory(sim_path: Path) -> None:
    code = PAGES.format(free="graph.free_result(address, copy)")
    assert isolated(sim_path, code, SIM_MEMORY_CHECK="pages").answers == [0, 42]


def test_page_check_refuses_graph_memory_before_its_allocation(sim_path: Path) -> None:
    code = PAGES.format(free="") + (
        "other = graph.inside(driver.handle('cuGraphCreate', 0))\n"
        "_, dead = other.allocate(size=4 << 20)\n"
        "other.instantiate()\n"
        "late = graph.inside(driver.handle('cuGraphCreate', 0))\n"
        "late.kernel(late.store_parameters(1, at=dead + (2 << 20)))\n"
        "driver('cuGraphLaunch', late.instantiate(), None)\n"
        "answer(driver.result('cuCtxSynchronize'))\n"
    )
    assert isolated(sim_path, code, SIM_MEMORY_CHECK="pages").answers == [0, 42, ILLEGAL_ADDRESS]
