"""Stream capture and graphs. The launch log counts launches inside graphs."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from .conftest import SAXPY, STORE, Driver
from .graphs import Kernel

KERNEL, MEMSET = 0, 2


def capture_two_stores(driver: Driver, memory: ctypes.c_uint64) -> ctypes.c_void_p:
    """Capture a memset and two kernels, the second on a forked stream that joins again."""
    function = driver.function(STORE, "store")
    main, side = (driver.handle("cuStreamCreate", 1) for _ in range(2))
    forked, joined = (driver.handle("cuEventCreate", 2) for _ in range(2))
    driver("cuStreamBeginCapture_v2", main, 0)
    driver("cuMemsetD8Async", memory, 0, ctypes.c_size_t(16), main)
    driver("cuEventRecord", forked, main)
    driver("cuStreamWaitEvent", side, forked, 0)
    for stream, offset in ((main, 0), (side, 4)):
        where = ctypes.c_uint64(memory.value + offset)
        assert driver.launch(function, [where, ctypes.c_uint(0x11 + offset)], stream=stream) == 0
    driver("cuEventRecord", joined, side)
    driver("cuStreamWaitEvent", main, joined, 0)
    graph = ctypes.c_void_p()
    driver("cuStreamEndCapture", main, ctypes.byref(graph))
    return graph


def list_nodes(driver: Driver, graph: ctypes.c_void_p) -> list[ctypes.c_void_p]:
    count = ctypes.c_size_t()
    driver("cuGraphGetNodes", graph, None, ctypes.byref(count))
    nodes = (ctypes.c_void_p * count.value)()
    driver("cuGraphGetNodes", graph, nodes, ctypes.byref(count))
    return [ctypes.c_void_p(node) for node in nodes]


def query_type(driver: Driver, node: ctypes.c_void_p) -> int:
    kind = ctypes.c_int()
    driver("cuGraphNodeGetType", node, ctypes.byref(kind))
    return kind.value


def test_captured_work_runs_only_when_the_graph_is_launched(driver: Driver) -> None:
    memory = driver.allocate(16)
    driver("cuMemsetD8_v2", memory, 0xFF, ctypes.c_size_t(16))
    graph = capture_two_stores(driver, memory)
    assert driver.read(memory, 16) == b"\xff" * 16
    executable = driver.handle("cuGraphInstantiateWithFlags", graph, ctypes.c_ulonglong(0))
    driver("cuGraphDestroy", graph)
    driver("cuGraphLaunch", executable, None)
    assert driver.read(memory, 16) == b"\x11\0\0\0\x15" + bytes(11)
    driver("cuGraphExecDestroy", executable)
    assert driver.result("cuGraphLaunch", executable, None) == 1


def test_graph_kernels_can_be_listed(driver: Driver) -> None:
    memory = driver.allocate(16)
    nodes = list_nodes(driver, capture_two_stores(driver, memory))
    assert [query_type(driver, node) for node in nodes] == [MEMSET, KERNEL, KERNEL]
    parameters = Kernel()
    driver("cuGraphKernelNodeGetParams_v2", nodes[2], ctypes.byref(parameters))
    assert (
        driver.number("cuFuncGetName", ctypes.c_void_p(parameters.function), kind=ctypes.c_char_p) == b"store"
    )
    assert ctypes.c_uint64.from_address(parameters.parameters[0] or 0).value == memory.value + 4
    assert driver.result("cuGraphKernelNodeGetParams_v2", nodes[0], ctypes.byref(parameters)) == 1


class SetParameters(ctypes.Structure):
    _fields_ = (
        ("to", ctypes.c_uint64),
        ("pitch", ctypes.c_size_t),
        ("value", ctypes.c_uint),
        ("element", ctypes.c_uint),
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
    )


def test_memset_node_returns_parameters(driver: Driver) -> None:
    memory = driver.allocate(16)
    nodes = list_nodes(driver, capture_two_stores(driver, memory))
    actual = SetParameters()
    driver("cuGraphMemsetNodeGetParams", nodes[0], ctypes.byref(actual))
    assert (actual.to, actual.value, actual.element, actual.width, actual.height) == (
        memory.value,
        0,
        1,
        16,
        1,
    )
    assert driver.result("cuGraphMemsetNodeGetParams", nodes[1], ctypes.byref(actual)) == 1


def test_executable_graph_parameters_can_change(driver: Driver) -> None:
    memory = driver.allocate(16)
    graph = capture_two_stores(driver, memory)
    executable = driver.handle("cuGraphInstantiateWithFlags", graph, ctypes.c_ulonglong(0))
    node = list_nodes(driver, graph)[1]
    parameters = Kernel()
    driver("cuGraphKernelNodeGetParams_v2", node, ctypes.byref(parameters))
    value = ctypes.c_uint(0x77)
    pointers = (ctypes.c_void_p * 2)(parameters.parameters[0], ctypes.addressof(value))
    parameters.parameters = pointers
    driver("cuGraphExecKernelNodeSetParams_v2", executable, node, ctypes.byref(parameters))
    driver("cuGraphLaunch", executable, None)
    assert driver.read(memory, 8) == b"\x77\0\0\0\x15\0\0\0"


def test_child_graph_runs_in_dependency_order(driver: Driver) -> None:
    memory = driver.allocate(16)
    child = capture_two_stores(driver, memory)
    graph = driver.handle("cuGraphCreate", 0)
    first = driver.handle("cuGraphAddChildGraphNode", graph, None, ctypes.c_size_t(0), child)
    value = ctypes.c_uint(9)
    pointers = (ctypes.c_void_p * 2)(ctypes.addressof(memory), ctypes.addressof(value))
    parameters = Kernel(driver.function(STORE, "store"), (1, 1, 1), (1, 1, 1), 0, pointers)
    last = driver.handle("cuGraphAddKernelNode_v2", graph, None, ctypes.c_size_t(0), ctypes.byref(parameters))
    driver("cuGraphAddDependencies", graph, ctypes.byref(first), ctypes.byref(last), ctypes.c_size_t(1))
    executable = driver.handle("cuGraphInstantiateWithFlags", graph, ctypes.c_ulonglong(0))
    driver("cuGraphLaunch", executable, None)
    assert driver.read(memory, 8) == b"\x09\0\0\0\x15\0\0\0"
    driver("cuGraphAddDependencies", graph, ctypes.byref(last), ctypes.byref(first), ctypes.c_size_t(1))
    cycle = ctypes.c_void_p()
    assert (
        driver.result("cuGraphInstantiateWithFlags", ctypes.byref(cycle), graph, ctypes.c_ulonglong(0)) == 1
    )


def test_capture_misuse_returns_documented_errors(driver: Driver) -> None:
    main, side = (driver.handle("cuStreamCreate", 1) for _ in range(2))
    event, graph = driver.handle("cuEventCreate", 2), ctypes.c_void_p(1)
    memory = driver.allocate(4)
    assert driver.result("cuStreamBeginCapture_v2", None, 0) == 900
    assert driver.result("cuStreamEndCapture", main, ctypes.byref(graph)) == 401
    driver("cuStreamBeginCapture_v2", main, 0)
    assert driver.result("cuStreamSynchronize", main) == 900
    assert driver.result("cuStreamEndCapture", main, ctypes.byref(graph)) == 901
    assert graph.value is None
    driver("cuStreamBeginCapture_v2", main, 0)
    driver("cuEventRecord", event, main)
    driver("cuStreamWaitEvent", side, event, 0)
    driver("cuMemsetD8Async", memory, 0, ctypes.c_size_t(4), side)
    assert driver.result("cuStreamEndCapture", side, ctypes.byref(graph)) == 903
    assert driver.result("cuStreamEndCapture", main, ctypes.byref(graph)) == 901
    driver("cuStreamSynchronize", main)


def test_unjoined_stream_fails_capture(driver: Driver) -> None:
    main, side = (driver.handle("cuStreamCreate", 1) for _ in range(2))
    event, graph, memory = driver.handle("cuEventCreate", 2), ctypes.c_void_p(1), driver.allocate(4)
    driver("cuStreamBeginCapture_v2", main, 0)
    driver("cuEventRecord", event, main)
    driver("cuStreamWaitEvent", side, event, 0)
    driver("cuMemsetD8Async", memory, 0, ctypes.c_size_t(4), side)
    assert driver.result("cuStreamEndCapture", main, ctypes.byref(graph)) == 904


def test_launch_log_counts_every_launch(driver: Driver, launch_log: Path) -> None:
    before = launch_log.read_text().splitlines() if launch_log.exists() else []
    memory = driver.allocate(16)
    function = driver.function(SAXPY, "saxpy")
    values = [ctypes.c_float(1), memory, memory, ctypes.c_uint(4)]
    assert driver.launch(function, values, 2, 32) == 0
    assert driver.launch(function, values, 0) == 1, "refused, so not counted"
    executable = driver.handle(
        "cuGraphInstantiateWithFlags", capture_two_stores(driver, memory), ctypes.c_ulonglong(0)
    )
    for _ in range(2):
        driver("cuGraphLaunch", executable, None)
    driver("cuCtxSynchronize")
    assert launch_log.read_text().splitlines()[len(before) :] == [
        f"{os.getpid()} saxpy 2,1,1 32,1,1 0",
        *[f"{os.getpid()} store 1,1,1 1,1,1 0"] * 4,
    ]
