"""Queries and attributes of streams. Defaults and refusals are those of a GPU's driver."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import pytest

from .conftest import Driver

LEGACY, PER_THREAD = ctypes.c_void_p(1), ctypes.c_void_p(2)
WINDOW, POLICY, PRIORITY, DOMAIN_MAP, DOMAIN = 1, 3, 8, 9, 10


def read(driver: Driver, stream: Any, attribute: int, suffix: str = "") -> tuple[int, bytes]:
    value = ctypes.create_string_buffer(64)
    code = driver.result(f"cuStreamGetAttribute{suffix}", stream, attribute, value)
    return code, value.raw


def write(driver: Driver, stream: Any, attribute: int, value: bytes, suffix: str = "") -> int:
    buffer = ctypes.create_string_buffer(value, 64)
    return driver.result(f"cuStreamSetAttribute{suffix}", stream, attribute, buffer)


@pytest.mark.parametrize(("flags", "result"), [(0, 0), (1, 0), (2, 1), (3, 1), (4, 1)])
def test_stream_flags_are_checked(driver: Driver, flags: int, result: int) -> None:
    stream = ctypes.c_void_p()
    assert driver.result("cuStreamCreate", ctypes.byref(stream), flags) == result
    assert driver.result("cuStreamCreateWithPriority", ctypes.byref(stream), flags, 0) == result
    assert driver.result("cuStreamCreate", None, flags) == 1


@pytest.mark.parametrize("suffix", ["", "_ptsz"])
def test_stream_queries_return_creation_values(driver: Driver, suffix: str) -> None:
    context = driver.handle("cuCtxGetCurrent")
    streams = {"null": None, "legacy": LEGACY, "own": PER_THREAD, "made": driver.handle("cuStreamCreate", 1)}
    ids = {}
    for name, stream in streams.items():
        number, long, handle = ctypes.c_int(-1), ctypes.c_ulonglong(), ctypes.c_void_p()
        driver(f"cuStreamGetFlags{suffix}", stream, ctypes.byref(number))
        assert number.value == (name == "made")
        driver(f"cuStreamGetDevice{suffix}", stream, ctypes.byref(number))
        assert number.value == 0
        driver(f"cuStreamGetCtx{suffix}", stream, ctypes.byref(handle))
        assert handle.value == context.value
        green = ctypes.c_void_p(7)
        driver(f"cuStreamGetCtx_v2{suffix}", stream, ctypes.byref(handle), ctypes.byref(green))
        assert (handle.value, green.value) == (context.value, None)
        driver(f"cuStreamGetId{suffix}", stream, ctypes.byref(long))
        ids[name] = long.value
    assert ids["null"] == ids["own" if suffix else "legacy"]
    assert len(set(ids.values())) == 3
    for name in ("Flags", "Device", "Ctx", "Id", "Priority"):
        assert driver.result(f"cuStreamGet{name}{suffix}", streams["made"], None) == 1


def test_attribute_defaults_match_driver(driver: Driver) -> None:
    stream = driver.handle("cuStreamCreate", 1)
    assert {n: read(driver, stream, n)[0] for n in range(18)} == {
        n: 0 if n in (WINDOW, POLICY, PRIORITY, DOMAIN_MAP, DOMAIN) else 1 for n in range(18)
    }
    assert read(driver, stream, WINDOW)[1][:32] == bytes(32)
    assert read(driver, stream, POLICY)[1][:4] == b"\xff\xff\xff\xff", "never set"
    assert read(driver, stream, DOMAIN_MAP)[1][:2] == b"\0\1"
    for name in ("Get", "Set"):
        assert driver.result(f"cuStream{name}Attribute", stream, PRIORITY, None) == 1


def number(value: int) -> bytes:
    return struct.pack("<i", value)


@pytest.mark.parametrize("suffix", ["", "_ptsz"])
@pytest.mark.parametrize("stream", ["made", None, LEGACY, PER_THREAD], ids=["made", "null", "legacy", "own"])
@pytest.mark.parametrize(
    ("attribute", "value", "result", "kept"),
    [
        *((POLICY, number(n), 0, number(n)) for n in (1, 2, 3, 4)),
        *((POLICY, number(n), 1, number(-1)) for n in (0, 5, -1)),
        (PRIORITY, number(-1), 0, number(-1)),
        (PRIORITY, number(-9), 0, number(-5)),
        (PRIORITY, number(1), 0, number(0)),
        (DOMAIN, number(1), 0, number(1)),
        (DOMAIN, number(2), 1, number(0)),
        (DOMAIN_MAP, b"\1\2", 0, b"\1\2"),
        (DOMAIN_MAP, b"\4\0", 1, b"\0\1"),
        (2, number(1), 1, b""),
        (16, number(1), 1, b""),
    ],
)
def test_attribute_round_trips(
    driver: Driver, stream: Any, suffix: str, attribute: int, value: bytes, result: int, kept: bytes
) -> None:
    stream = driver.handle("cuStreamCreate", 1) if stream == "made" else stream
    assert write(driver, stream, attribute, value, suffix) == result
    assert read(driver, stream, attribute, suffix)[1][: len(kept)] == kept


@pytest.mark.parametrize(
    ("size", "ratio", "hit", "miss", "result"),
    [
        (4096, 0.5, 2, 1, 0),
        (1 << 40, 0.5, 2, 1, 1),
        (4096, 1.5, 2, 1, 1),
        (4096, 0.5, 2, 2, 1),
        (0, 0.0, 0, 0, 0),
    ],
)
def test_access_policy_window_is_checked(
    driver: Driver, size: int, ratio: float, hit: int, miss: int, result: int
) -> None:
    stream = driver.handle("cuStreamCreate", 1)
    window = struct.pack("<QQfii", driver.allocate(4096).value, size, ratio, hit, miss)
    assert write(driver, stream, WINDOW, window) == result
    assert read(driver, stream, WINDOW)[1][: len(window)] == (window if result == 0 else bytes(len(window)))


def test_priority_attribute_round_trips(driver: Driver) -> None:
    stream = driver.handle("cuStreamCreateWithPriority", 1, -2)
    assert read(driver, stream, PRIORITY)[1][:4] == number(-2)
    write(driver, stream, PRIORITY, number(-3))
    priority = ctypes.c_int()
    driver("cuStreamGetPriority", stream, ctypes.byref(priority))
    assert priority.value == -3


@pytest.mark.parametrize("suffix", ["", "_ptsz"])
def test_copied_attributes_match_source(driver: Driver, suffix: str) -> None:
    copy = f"cuStreamCopyAttributes{suffix}"
    source, target = driver.handle("cuStreamCreate", 1), driver.handle("cuStreamCreateWithPriority", 0, -2)
    write(driver, source, POLICY, number(3))
    write(driver, source, DOMAIN, number(1))
    driver(copy, target, source)
    for attribute in (POLICY, PRIORITY, DOMAIN):
        assert read(driver, target, attribute) == read(driver, source, attribute)
    flags = ctypes.c_uint()
    driver("cuStreamGetFlags", target, ctypes.byref(flags))
    assert flags.value == 0, "flags are not attributes"
    driver(copy, None, source)
    assert read(driver, None, POLICY, suffix)[1][:4] == number(3)
    other = driver.handle("cuCtxCreate_v4", None, 0, 0)
    foreign = driver.handle("cuStreamCreate", 0)
    assert driver.result(copy, foreign, source) == driver.result(copy, source, foreign) == 1
    driver("cuCtxDestroy_v2", other)


def test_stream_call_needs_no_current_context(driver: Driver) -> None:
    """A created stream knows its context. The default streams belong to the current context."""
    context, memory = driver.handle("cuCtxGetCurrent"), driver.allocate(4)
    stream, event = driver.handle("cuStreamCreate", 1), driver.handle("cuEventCreate", 0)
    driver("cuCtxPopCurrent_v2", None)
    below = driver.handle("cuCtxGetCurrent")
    driver("cuCtxSetCurrent", None)
    try:
        driver("cuEventRecord", event, stream)
        driver("cuStreamWaitEvent", stream, event, 0)
        driver("cuStreamSynchronize", stream)
        assert driver.result("cuEventQuery", event) == driver.result("cuStreamQuery", stream) == 0
        driver("cuStreamBeginCapture_v2", stream, 0)
        driver("cuStreamEndCapture", stream, ctypes.byref(ctypes.c_void_p()))
        driver("cuStreamWriteValue32_v2", stream, memory, 3, 0)
        for call in ("cuStreamSynchronize", "cuStreamQuery"):
            assert driver.result(call, None) == 201
        assert driver.result("cuStreamCreate", ctypes.byref(ctypes.c_void_p()), 99) == 1, "checked first"
        assert driver.result("cuStreamCreate", ctypes.byref(ctypes.c_void_p()), 0) == 201
        driver("cuEventDestroy_v2", event)
        driver("cuStreamDestroy_v2", stream)
    finally:
        if driver.result("cuCtxSetCurrent", below) != 0:
            driver("cuCtxSetCurrent", None)  # an ended context of another test
        driver("cuCtxPushCurrent_v2", context)
