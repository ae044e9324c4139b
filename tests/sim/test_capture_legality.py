"""Results of calls during stream capture, and their effect on the capture, as observed on a GPU call by call."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .conftest import SAXPY, STORE, Driver

TABLE = Path(__file__).parent / "observed" / "capture.txt"
MODES = {"global": (0, 1), "thread-local": (1, 1), "relaxed": (2, 1), "relaxed, blocking stream": (2, 0)}
HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

ELSEWHERE = {
    "IpcGetMemHandle & M": "memory is not shared with other processes here",
}
"""Calls that the rules of stream capture do not concern here."""


def read_table() -> Iterator[Any]:
    for line in TABLE.read_text().splitlines():
        if not line.startswith("#"):
            call, *answers = line.split(" | ")
            for mode, answer in zip(MODES, answers, strict=True):
                yield pytest.param(call, mode, answer, id=f"{call} [{mode}]")


class Workshop:
    """Makes the arguments that the table's letters stand for."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.kept: list[Any] = []

    def buffer(self) -> Any:
        self.kept.append(ctypes.create_string_buffer(8192))
        return self.kept[-1]

    def recorded(self) -> Any:
        event = self.driver.handle("cuEventCreate", 0)
        self.driver("cuEventRecord", event, self.driver.handle("cuStreamCreate", 1))
        self.driver("cuEventSynchronize", event)
        return event

    def executable(self) -> Any:
        graph = self.driver.handle("cuGraphCreate", 0)
        return self.driver.handle("cuGraphInstantiateWithFlags", graph, ctypes.c_ulonglong(0))

    def context(self) -> Any:
        handle = self.driver.handle("cuCtxCreate_v4", None, 0, 0)
        self.driver("cuCtxPopCurrent_v2", None)
        return handle

    def host_function(self) -> Any:
        self.kept.append(HOST_FUNCTION(lambda _: None))
        return self.kept[-1]

    def make(self, letter: str) -> Any:
        driver = self.driver
        makers: dict[str, Callable[[], Any]] = {
            "N": lambda: None,
            "&": lambda: ctypes.byref(self.buffer()),
            "O": lambda: driver.handle("cuStreamCreate", 1),
            "L": lambda: ctypes.c_void_p(2),
            "M": lambda: driver.allocate(4096),
            "H": lambda: driver.handle("cuMemHostAlloc", ctypes.c_size_t(64), 0),
            "B": self.buffer,
            "G": lambda: driver.handle("cuMemAllocManaged", ctypes.c_size_t(64), 1),
            "E": self.recorded,
            "U": lambda: driver.handle("cuEventCreate", 0),
            "F": lambda: driver.function(STORE, "nothing"),
            "m": lambda: driver.handle("cuModuleLoadData", SAXPY.encode()),
            "z": self.context,
            "x": self.executable,
            "g": lambda: driver.handle("cuGraphCreate", 0),
            "P": SAXPY.encode,
            "f": self.host_function,
        }
        return makers[letter]() if letter in makers else ctypes.c_int64(int(letter))


def node_types(driver: Driver, graph: ctypes.c_void_p) -> list[int]:
    count = ctypes.c_size_t()
    driver("cuGraphGetNodes", graph, None, ctypes.byref(count))
    nodes = (ctypes.c_void_p * (count.value + 1))()
    driver("cuGraphGetNodes", graph, nodes, ctypes.byref(count))
    return sorted(query_type(driver, ctypes.c_void_p(node)) for node in nodes[: count.value])


def query_type(driver: Driver, node: ctypes.c_void_p) -> int:
    kind = ctypes.c_int()
    driver("cuGraphNodeGetType", node, ctypes.byref(kind))
    return kind.value


@pytest.mark.parametrize(("call", "mode", "answer"), list(read_table()))
def test_call_during_capture_matches_observed_result(
    driver: Driver, call: str, mode: str, answer: str
) -> None:
    if call in ELSEWHERE:
        pytest.skip(ELSEWHERE[call])
    capture_mode, flags = MODES[mode]
    workshop, (name, *letters) = Workshop(driver), call.split()
    arguments = {letter: workshop.make(letter) for letter in letters if letter not in "SC"}
    arguments["S"] = stream = driver.handle("cuStreamCreate", flags)
    driver("cuStreamBeginCapture_v2", stream, capture_mode)
    if "C" in letters:
        arguments["C"] = driver.handle("cuEventCreate", 0)
        driver("cuEventRecord", arguments["C"], stream)
    result = driver.result(f"cu{name}", *(arguments[letter] for letter in letters))
    status, graph = ctypes.c_int(-1), ctypes.c_void_p()
    driver("cuStreamIsCapturing", stream, ctypes.byref(status))
    ended = driver.result("cuStreamEndCapture", stream, ctypes.byref(graph))
    types = json.dumps(node_types(driver, graph)).replace(" ", "") if ended == 0 else ""
    assert f"{result} {status.value} {ended} {types}".strip() == answer
    if name == "CtxCreate_v4":
        driver("cuCtxDestroy_v2", driver.handle("cuCtxGetCurrent"))
    if name == "DevicePrimaryCtxRetain":
        driver("cuDevicePrimaryCtxRelease_v2", 0)
