"""The driver's error log. Results and the format of lines are those of a GPU's driver."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any

import pytest

from .conftest import STORE, Driver

CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
LINE = re.compile(r"\[\d\d:\d\d:\d\d\.\d{3}\]\[\d+\]\[CUDA\]\[E\] (.*)\n")


@pytest.fixture
def logs(driver: Driver) -> Driver:
    if not hasattr(driver.library, "cuLogsCurrent"):
        pytest.skip("the header that the driver was built with does not have it")
    return driver


def get_iterator(driver: Driver) -> ctypes.c_uint:
    iterator = ctypes.c_uint()
    driver("cuLogsCurrent", ctypes.byref(iterator), 0)
    return iterator


def refuse(driver: Driver, times: int = 1) -> None:
    """Make calls that fail with one log line each."""
    for _ in range(times):
        assert driver.result("cuLogsCurrent", None, 0) == 1


REFUSED = "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuLogsCurrent"


def dump(driver: Driver, iterator: Any, size: int = 25600) -> tuple[int, int, str]:
    buffer, bytes_ = ctypes.create_string_buffer(b"x" * size), ctypes.c_size_t(size)
    code = driver.result(
        "cuLogsDumpToMemory", iterator and ctypes.byref(iterator), buffer, ctypes.byref(bytes_), 0
    )
    return code, bytes_.value, buffer.value.decode() if code == 0 else ""


def test_log_arguments_are_checked(logs: Driver) -> None:
    iterator = get_iterator(logs)
    assert logs.result("cuLogsRegisterCallback", None, None, None) == 1
    assert logs.result("cuLogsUnregisterCallback", None) == 1
    place, size = ctypes.byref(iterator), ctypes.byref(ctypes.c_size_t(64))
    assert logs.result("cuLogsDumpToMemory", place, None, size, 0) == 1
    assert logs.result("cuLogsDumpToMemory", place, ctypes.create_string_buffer(64), None, 0) == 1
    assert logs.result("cuLogsDumpToFile", place, None, 0) == 1
    assert logs.result("cuLogsDumpToFile", place, b"/nonexistent/folder/log", 0) == 1


def test_iterator_returns_later_lines(logs: Driver) -> None:
    iterator = get_iterator(logs)
    assert dump(logs, iterator) == (0, 0, "")
    refuse(logs, 2)
    code, size, text = dump(logs, iterator)
    assert (code, size) == (0, len(text))
    assert LINE.findall(text) == [REFUSED] * 2
    assert dump(logs, iterator) == (0, 0, ""), "the iterator moved forward"
    assert dump(logs, None)[2].endswith(text)


def test_small_buffer_gets_newest_lines(logs: Driver) -> None:
    iterator = get_iterator(logs)
    refuse(logs, 3)
    start = iterator.value
    whole = dump(logs, iterator)[2]
    line = len(whole) // 3
    _, size, text = dump(logs, ctypes.c_uint(start), 100 + line)
    note, _, rest = text.partition("\n")
    assert "not large enough" in note
    assert rest == whole[-line:] and size == len(text)
    assert dump(logs, ctypes.c_uint(start), len(whole) + 1)[2] == whole
    assert dump(logs, ctypes.c_uint(start), 4)[:2] == (1, 0)


def test_oldest_lines_are_overwritten(logs: Driver) -> None:
    iterator = get_iterator(logs)
    refuse(logs, 500)
    assert 0 < len(LINE.findall(dump(logs, iterator)[2])) < 500


def test_log_is_written_to_file(logs: Driver, tmp_path: Path) -> None:
    iterator, path = get_iterator(logs), tmp_path / "log"
    refuse(logs)
    logs("cuLogsDumpToFile", ctypes.byref(iterator), str(path).encode(), 0)
    assert LINE.findall(path.read_text()) == [REFUSED]


def test_registered_callback_receives_lines(logs: Driver) -> None:
    """A callback receives refusals at once and faults when they happen, until it is unregistered."""
    calls: list[tuple[int | None, int, str]] = []

    def receive(data: int | None, level: int, message: int, length: int) -> None:
        calls.append((data, level, ctypes.string_at(message, length).decode()))

    callback, handle = CALLBACK(receive), ctypes.c_void_p()
    logs("cuLogsRegisterCallback", callback, ctypes.c_void_p(77), ctypes.byref(handle))
    try:
        refuse(logs)
        assert calls == [(77, 0, REFUSED)]
        assert logs.launch(logs.function(STORE, "store"), [ctypes.c_uint64(0x1230), ctypes.c_uint(1)]) == 0
        assert logs.result("cuCtxSynchronize") == 700
        assert "700 (CUDA_ERROR_ILLEGAL_ADDRESS)" in calls[1][2]
    finally:  # the driver must not call an object that Python has freed
        logs("cuLogsUnregisterCallback", handle)
    refuse(logs)
    assert len(calls) == 2
    assert logs.result("cuLogsUnregisterCallback", handle) == 1
