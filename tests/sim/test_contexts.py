"""Contexts: create, count, destroy, query; limits, peers, core dump settings. Codes are those of a GPU's driver."""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from .conftest import Driver

DESTROYED = 709


def query_current(driver: Driver) -> int | None:
    return driver.handle("cuCtxGetCurrent").value


def out() -> Any:
    return ctypes.byref(ctypes.create_string_buffer(256))


def query_number(driver: Driver, name: str, *arguments: Any) -> int:
    """Return the int that a call writes through its first parameter."""
    return int(driver.number(name, *arguments))


CREATE = {"_v2": (), "_v3": (None, 0), "_v4": (None,)}


@pytest.mark.parametrize("version", CREATE)
def test_context_creation_works_in_every_version(driver: Driver, version: str) -> None:
    name, middle = f"cuCtxCreate{version}", CREATE[version]
    context = driver.handle(name, *middle, 0, 0)
    assert query_current(driver) == context.value
    api = ctypes.c_uint()
    driver("cuCtxGetApiVersion", context, ctypes.byref(api))
    assert api.value == 3020
    assert driver.result(name, None, *middle, 0, 0) == 1
    assert driver.result(name, out(), *middle, 0, 1) == 101
    assert driver.result(name, out(), *middle, 0x100, 0) == 1
    driver("cuCtxDestroy_v2", context)


def test_context_creation_in_first_version_fails(driver: Driver) -> None:
    assert driver.result("cuCtxCreate", out(), 0, 0) == 2
    assert driver.result("cuCtxCreate", None, 0, 0) == driver.result("cuCtxCreate", out(), 0x100, 0) == 1
    assert driver.result("cuCtxCreate", out(), 0, 1) == 101


@pytest.mark.parametrize(
    ("flags", "result"), [(1, 0), (2, 0), (3, 1), (4, 0), (5, 1), (6, 1), (7, 1), (8, 0), (16, 0), (128, 0)]
)
def test_context_flags_are_checked(driver: Driver, flags: int, result: int) -> None:
    context = ctypes.c_void_p()
    assert driver.result("cuCtxCreate_v4", ctypes.byref(context), None, flags, 0) == result
    if result == 0:
        assert query_number(driver, "cuCtxGetFlags") == flags
        driver("cuCtxDestroy_v2", context)


def test_execution_affinity_without_mps_is_refused(driver: Driver) -> None:
    parameter = ctypes.create_string_buffer(struct.pack("<II", 0, 8), 8)
    for array, count, result in ((parameter, 1, 224), (None, 1, 1)):
        assert driver.result("cuCtxCreate_v3", out(), array, count, 0, 0) == result
        address = 0 if array is None else ctypes.addressof(array)
        parameters = ctypes.create_string_buffer(struct.pack("<QixxxxQ", address, count, 0), 24)
        assert driver.result("cuCtxCreate_v4", out(), parameters, 0, 0) == result
    driver("cuCtxDestroy_v2", driver.handle("cuCtxCreate_v3", parameter, 0, 0, 0))
    actual = ctypes.create_string_buffer(8)
    driver("cuCtxGetExecAffinity", actual, 0)
    assert struct.unpack("<II", actual.raw) == (0, query_number(driver, "cuDeviceGetAttribute", 16, 0))
    assert driver.result("cuCtxGetExecAffinity", actual, 1) == 224
    assert driver.result("cuCtxGetExecAffinity", None, 0) == 1


def test_attach_and_detach_count_uses(driver: Driver) -> None:
    below, attached = query_current(driver), ctypes.c_void_p()
    context = driver.handle("cuCtxCreate_v4", None, 0, 0)
    assert driver.result("cuCtxAttach", out(), 1) == driver.result("cuCtxAttach", None, 0) == 1
    driver("cuCtxAttach", ctypes.byref(attached), 0)
    assert attached.value == context.value
    driver("cuCtxDetach", context)
    assert query_current(driver) == context.value
    driver("cuCtxDetach", context)
    assert query_current(driver) == below
    assert driver.result("cuCtxDetach", context) == 201


def test_destroy_of_primary_or_null_context_is_refused(loaded: Driver) -> None:
    primary = loaded.handle("cuDevicePrimaryCtxRetain", 0)
    assert loaded.result("cuCtxDestroy_v2", primary) == 201
    assert loaded.result("cuCtxDestroy_v2", None) == loaded.result("cuCtxDestroy", None) == 1
    loaded("cuDevicePrimaryCtxRelease_v2", 0)


def test_context_destroyed_by_another_thread_is_reported(driver: Driver) -> None:
    context = driver.handle("cuCtxCreate_v4", None, 4, 0)
    thread = threading.Thread(target=lambda: driver("cuCtxDestroy_v2", context))
    thread.start()
    thread.join()
    assert query_current(driver) == context.value
    assert query_number(driver, "cuCtxGetDevice") == 0
    assert query_number(driver, "cuCtxGetFlags") == 4
    for name, *arguments in (
        ("cuCtxSynchronize",),
        ("cuMemAlloc_v2", out(), ctypes.c_size_t(64)),
        ("cuStreamCreate", out(), 0),
        ("cuEventCreate", out(), 0),
        ("cuStreamSynchronize", None),
        ("cuModuleLoadData", out(), b"x"),
        ("cuCtxGetLimit", out(), 0),
        ("cuMemGetInfo_v2", out(), out()),
        ("cuCtxGetId", None, out()),
        ("cuCtxAttach", out(), 0),
    ):
        assert driver.result(name, *arguments) == DESTROYED, name
    driver("cuCtxPopCurrent_v2", None)
    driver("cuCtxSynchronize")


# ---- the primary context -------------------------------------------------------------------------------------------


@pytest.fixture
def primary(loaded: Driver) -> Iterator[Driver]:
    """The driver with its primary context inactive and no context current."""
    release_primary(loaded)
    yield loaded
    release_primary(loaded)
    loaded("cuDevicePrimaryCtxSetFlags_v2", 0, 0)


def release_primary(driver: Driver) -> None:
    while driver.result("cuCtxPopCurrent_v2", None) == 0:
        pass
    while driver.result("cuDevicePrimaryCtxRelease_v2", 0) == 0:
        pass


def query_state(driver: Driver) -> tuple[int, int]:
    flags, active = ctypes.c_uint(77), ctypes.c_int(77)
    driver("cuDevicePrimaryCtxGetState", 0, ctypes.byref(flags), ctypes.byref(active))
    return flags.value, active.value


def test_primary_context_flags_round_trip(primary: Driver) -> None:
    for flags, result, after in ((4, 0, 4), (0x18, 1, 4), (0x20, 0, 0x20), (0x100, 1, 0x20), (3, 1, 0x20)):
        assert primary.result("cuDevicePrimaryCtxSetFlags_v2", 0, flags) == result
        assert query_state(primary) == (after, 0)
    primary("cuDevicePrimaryCtxSetFlags", 0, 4)
    context = primary.handle("cuDevicePrimaryCtxRetain", 0)
    assert query_state(primary) == (4, 1)
    assert primary.result("cuDevicePrimaryCtxSetFlags", 0, 2) == 708
    primary("cuDevicePrimaryCtxSetFlags_v2", 0, 1)
    assert query_state(primary) == (1, 1)
    primary("cuCtxSetCurrent", context)
    assert query_number(primary, "cuCtxGetFlags") == 9, "mapped host memory is always on"
    for flags, result, after in ((4, 0, 12), (0x10, 0, 24), (0x20, 0, 8), (0x100, 1, 8), (3, 1, 8)):
        assert primary.result("cuCtxSetFlags", flags) == result
        assert query_number(primary, "cuCtxGetFlags") == after


def test_last_release_ends_primary_context(primary: Driver) -> None:
    assert primary.result("cuDevicePrimaryCtxRelease_v2", 0) == 201
    one, other = (primary.handle("cuDevicePrimaryCtxRetain", 0) for _ in range(2))
    assert one.value == other.value
    primary("cuCtxSetCurrent", one)
    primary("cuDevicePrimaryCtxRelease", 0)
    primary("cuCtxSynchronize")
    primary("cuDevicePrimaryCtxRelease_v2", 0)
    assert query_state(primary) == (0, 0)
    assert query_current(primary) == one.value
    assert query_number(primary, "cuCtxGetDevice") == 0
    assert primary.result("cuCtxSynchronize") == DESTROYED
    assert primary.result("cuStreamCreate", out(), 0) == DESTROYED
    assert primary.handle("cuDevicePrimaryCtxRetain", 0).value == one.value
    primary("cuCtxSynchronize")


@pytest.mark.parametrize("version", ["", "_v2"])
def test_reset_ends_primary_context_but_keeps_references(primary: Driver, version: str) -> None:
    reset = f"cuDevicePrimaryCtxReset{version}"
    primary(reset, 0)
    context = primary.handle("cuDevicePrimaryCtxRetain", 0)
    primary("cuDevicePrimaryCtxRetain", out(), 0)
    primary("cuCtxSetCurrent", context)
    stream, memory = primary.handle("cuStreamCreate", 1), primary.allocate(64)
    primary(reset, 0)
    assert query_state(primary) == (0, 0)
    assert primary.result("cuCtxSynchronize") == DESTROYED
    assert primary.result("cuStreamQuery", stream) == DESTROYED
    primary("cuDevicePrimaryCtxRelease_v2", 0)
    primary("cuDevicePrimaryCtxRelease_v2", 0)
    assert primary.result("cuDevicePrimaryCtxRelease_v2", 0) == 201
    primary("cuDevicePrimaryCtxRetain", out(), 0)
    primary("cuCtxSynchronize")
    assert primary.result("cuMemFree_v2", memory) == 1
    assert primary.result("cuStreamQuery", stream) == 400


def test_primary_context_calls_check_arguments(primary: Driver) -> None:
    name = "cuDevicePrimaryCtx"
    assert primary.result(f"{name}Retain", out(), 1) == 101
    assert primary.result(f"{name}Release_v2", 1) == primary.result(f"{name}Reset_v2", 1) == 101
    assert primary.result(f"{name}SetFlags_v2", 1, 0) == 101
    assert primary.result(f"{name}Retain", None, 0) == 1
    assert (
        primary.result(f"{name}GetState", 0, None, out())
        == primary.result(f"{name}GetState", 0, out(), None)
        == 1
    )


# ---- limits --------------------------------------------------------------------------------------------------------


def query_limit(driver: Driver, which: int) -> int:
    return int(driver.number("cuCtxGetLimit", which, kind=ctypes.c_size_t))


STACK, PRINTF, HEAP, DEPTH, PENDING, FETCH, PERSISTING, SHARED, GRAPHICS, FALLBACK = range(10)


def test_limits_have_observed_defaults(driver: Driver) -> None:
    assert [query_limit(driver, n) for n in (STACK, PRINTF, HEAP, PENDING, FETCH)] == [
        1024,
        1 << 20,
        8 << 20,
        2048,
        64,
    ]
    assert query_limit(driver, SHARED) == query_number(driver, "cuDeviceGetAttribute", 97, 0)
    assert query_limit(driver, GRAPHICS) == 0
    for which, result in ((DEPTH, 215), (FALLBACK, 215), (99, 1), (-1, 1)):
        assert driver.result("cuCtxGetLimit", out(), which) == result
        assert driver.result("cuCtxSetLimit", which, ctypes.c_size_t(0)) == result
    assert driver.result("cuCtxGetLimit", None, STACK) == 1


@pytest.mark.parametrize(
    ("which", "wanted", "result", "got"),
    [
        *((STACK, a, 0, b) for a, b in ((0, 0), (1, 16), (33, 48), (1000, 1008), (1 << 16, 1 << 16))),
        (STACK, 1 << 20, 1, 1024),
        *((PRINTF, a, 0, b) for a, b in ((0, 512 << 10), (1 << 20, 1 << 20), (1 << 40, 1 << 31))),
        *((HEAP, a, 0, b) for a, b in ((0, 4 << 20), (1 << 28, 1 << 28))),
        *((PENDING, a, 0, b) for a, b in ((0, 32), (33, 33), (5000, 5000))),
        *((FETCH, a, 0, a) for a in (0, 1, 33, 128)),
        (FETCH, 129, 1, 64),
        (PERSISTING, 0, 0, 0),
        (SHARED, 0, 800, None),
        (GRAPHICS, 1, 800, 0),
    ],
)
def test_limit_is_rounded(driver: Driver, which: int, wanted: int, result: int, got: int | None) -> None:
    before = query_limit(driver, which)
    assert driver.result("cuCtxSetLimit", which, ctypes.c_size_t(wanted)) == result
    assert query_limit(driver, which) == (before if got is None else got)


def test_persisting_cache_limit_is_rounded_up(driver: Driver) -> None:
    driver("cuCtxSetLimit", PERSISTING, ctypes.c_size_t(1))
    assert query_limit(driver, PERSISTING) > 1, "rounded up to the unit of the cache"
    assert driver.result("cuCtxSetLimit", PERSISTING, ctypes.c_size_t(1 << 28)) == 1
    driver("cuCtxResetPersistingL2Cache")


def test_cache_configurations_round_trip(driver: Driver) -> None:
    for expected, result, actual in ((0, 0, 0), (1, 0, 1), (2, 0, 2), (3, 0, 3), (4, 1, 3)):
        assert driver.result("cuCtxSetCacheConfig", expected) == result
        assert query_number(driver, "cuCtxGetCacheConfig") == actual
    for expected, result in ((0, 0), (1, 0), (2, 0), (3, 1)):
        assert driver.result("cuCtxSetSharedMemConfig", expected) == result
        assert query_number(driver, "cuCtxGetSharedMemConfig") == 1, "banks have four bytes"


# ---- peers ---------------------------------------------------------------------------------------------------------


def test_peer_access_is_refused(driver: Driver) -> None:
    own = driver.handle("cuCtxGetCurrent")
    assert query_number(driver, "cuDeviceCanAccessPeer", 0, 0) == 0
    for devices in ((0, 1), (1, 0)):
        assert driver.result("cuDeviceCanAccessPeer", out(), *devices) == 101
        assert driver.result("cuDeviceGetP2PAttribute", out(), 2, *devices) == 101
    assert driver.result("cuDeviceCanAccessPeer", None, 0, 0) == 1
    other = driver.handle("cuCtxCreate_v4", None, 0, 0)
    for context in (own, other):
        assert driver.result("cuCtxEnablePeerAccess", context, 0) == 217
        assert driver.result("cuCtxEnablePeerAccess", context, 1) == 1
        assert driver.result("cuCtxDisablePeerAccess", context) == 705
    assert (
        driver.result("cuCtxEnablePeerAccess", None, 0)
        == driver.result("cuCtxDisablePeerAccess", None)
        == 201
    )
    driver("cuCtxDestroy_v2", other)
    for attribute in range(7):
        assert driver.result("cuDeviceGetP2PAttribute", out(), attribute, 0, 0) == 101
    assert driver.result("cuDeviceGetP2PAttribute", None, 2, 0, 0) == 1
    if hasattr(driver.library, "cuDeviceGetP2PAtomicCapabilities"):
        operations, name = (ctypes.c_uint * 2)(0, 1), "cuDeviceGetP2PAtomicCapabilities"
        assert driver.result(name, out(), operations, 2, 0, 0) == 101
        assert (
            driver.result(name, None, operations, 2, 0, 0)
            == driver.result(name, out(), operations, 0, 0, 0)
            == 1
        )


# ---- core dumps ----------------------------------------------------------------------------------------------------

ON_EXCEPTION, HOST, LIGHT, USER, FILE, PIPE, FLAGS = range(1, 8)
SIZES = {0: 0, ON_EXCEPTION: 1, HOST: 1, LIGHT: 1, USER: 1, FILE: 1024, PIPE: 1024, FLAGS: 4, 8: 0}


class Dumps:
    def __init__(self, driver: Driver, scope: str) -> None:
        self.driver, self.scope = driver, scope

    def call(self, verb: str, setting: int, value: Any, size: int) -> tuple[int, int]:
        bytes_ = ctypes.c_size_t(size)
        name = f"cuCoredump{verb}Attribute{self.scope}"
        return self.driver.result(name, setting, value, ctypes.byref(bytes_)), bytes_.value

    def set(self, setting: int, value: bytes) -> int:
        return self.call("Set", setting, ctypes.create_string_buffer(value, 2048), len(value))[0]

    def get(self, setting: int, size: int) -> bytes:
        buffer = ctypes.create_string_buffer(2048)
        assert self.call("Get", setting, buffer, size)[0] == 0
        return buffer.raw[:size]


@pytest.mark.parametrize("scope", ["", "Global"])
def test_core_dump_setting_size_is_checked(driver: Driver, scope: str) -> None:
    dumps = Dumps(driver, scope)
    for setting, size in SIZES.items():
        known = size != 0 and (scope == "Global" or setting not in (USER, PIPE))
        for verb in ("Get", "Set"):
            assert dumps.call(verb, setting, None, 0) == ((0, size) if known else (1, 0))
        for inputs in (1, 3, 2048):
            fits = known and (inputs == size or (setting in (FILE, PIPE)))
            buffer = ctypes.create_string_buffer(2048)
            assert dumps.call("Get", setting, buffer, inputs)[0] == (0 if fits else 1)
    assert driver.result(f"cuCoredumpGetAttribute{scope}", HOST, ctypes.create_string_buffer(8), None) == 1


@pytest.mark.parametrize("scope", ["", "Global"])
def test_core_dump_settings_round_trip(driver: Driver, scope: str) -> None:
    dumps = Dumps(driver, scope)
    assert dumps.set(FLAGS, bytes(4)) == 0
    assert (dumps.get(HOST, 1), dumps.get(LIGHT, 1)) == (b"\1", b"\0")
    for setting, value, flags in ((HOST, 0, 0x10), (LIGHT, 1, 0x3F), (LIGHT, 0, 0x10), (HOST, 1, 0)):
        assert dumps.set(setting, bytes([value])) == 0
        assert dumps.get(setting, 1) == bytes([value])
        assert dumps.get(FLAGS, 4)[0] == flags, "newer headers have more flags"
    for value in (b"\1", b"\0"):
        assert dumps.set(ON_EXCEPTION, value) == 0
        assert dumps.get(ON_EXCEPTION, 1) == value
    assert dumps.set(FILE, b"/tmp/dump.%p\0") == 0
    assert dumps.get(FILE, 20) == b"/tmp/dump.%p".ljust(20, b"\0")
    assert dumps.set(PIPE, b"/tmp/pipe\0") == dumps.set(USER, b"\0") == (0 if scope else 1)
