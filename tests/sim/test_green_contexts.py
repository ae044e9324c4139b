"""Green contexts: resources, splits, creation. Codes and sizes are those of a GPU's driver."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from .conftest import STORE, Driver

SM, SPLIT = 1, "cuDevSmResourceSplitByCount"


class Resource(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("_internal", ctypes.c_ubyte * 92),
        ("count", ctypes.c_uint),
        ("minimum", ctypes.c_uint),
        ("alignment", ctypes.c_uint),
        ("_rest", ctypes.c_ubyte * 36),
    )


def query_device_resource(driver: Driver) -> Resource:
    resource = Resource()
    driver("cuDeviceGetDevResource", 0, ctypes.byref(resource), SM)
    return resource


def split(
    driver: Driver, minimum: int, groups: int = 1, flags: int = 0, source: Resource | None = None
) -> tuple[int, list[Resource], Resource]:
    resources, rest, count = (Resource * 64)(), Resource(), ctypes.c_uint(groups)
    source = query_device_resource(driver) if source is None else source
    code = driver.result(
        SPLIT, resources, ctypes.byref(count), ctypes.byref(source), ctypes.byref(rest), flags, minimum
    )
    return code, list(resources)[: count.value], rest


def describe(driver: Driver, *resources: Resource) -> ctypes.c_void_p:
    array = (Resource * len(resources))(*resources)
    return driver.handle("cuDevResourceGenerateDesc", array, len(resources))


@pytest.fixture
def green(driver: Driver) -> Any:
    _, (group,), _ = split(driver, 8)
    context = driver.handle("cuGreenCtxCreate", describe(driver, group), 0, 1)
    yield context
    driver("cuGreenCtxDestroy", context)


def test_device_resource_reports_multiprocessors(driver: Driver) -> None:
    resource = query_device_resource(driver)
    count = ctypes.c_int()
    driver("cuDeviceGetAttribute", ctypes.byref(count), 16, 0)
    assert (resource.type, resource.count) == (SM, count.value)
    assert (resource.minimum, resource.alignment) in ((8, 8), (0, 0)), "from CUDA 13.0 on"
    for kind in (0, 2, 3):
        assert driver.result("cuDeviceGetDevResource", 0, ctypes.byref(resource), kind) == 914
    assert driver.result("cuDeviceGetDevResource", 0, None, SM) == 1
    assert driver.result("cuDeviceGetDevResource", 1, ctypes.byref(resource), SM) == 101
    context = driver.handle("cuCtxGetCurrent")
    driver("cuCtxGetDevResource", context, ctypes.byref(resource), SM)
    assert resource.count == count.value
    assert driver.result("cuCtxGetDevResource", None, ctypes.byref(resource), SM) == 201
    assert driver.result("cuCtxGetDevResource", context, ctypes.byref(resource), 0) == 914


@pytest.mark.parametrize(
    ("minimum", "flags", "each"),
    [(0, 0, 8), (1, 0, 8), (7, 0, 8), (8, 0, 8), (9, 0, 16), (16, 0, 16), (2, 1, 2), (3, 1, 4), (2, 2, 8)],
)
def test_split_rounds_groups_to_scheduling_unit(driver: Driver, minimum: int, flags: int, each: int) -> None:
    available = query_device_resource(driver).count
    code, (group,), rest = split(driver, minimum, flags=flags)
    assert (code, group.type, group.count) == (0, SM, each)
    assert (rest.type, rest.count) == ((SM, available - each) if available > each else (0, 0))
    _, groups, _ = split(driver, minimum, 64, flags)
    assert [g.count for g in groups] == [each] * (available // each)


def test_invalid_split_is_refused(driver: Driver) -> None:
    resource, count = query_device_resource(driver), ctypes.c_uint()
    assert split(driver, resource.count + 1)[0] == 915
    assert split(driver, 8, flags=3)[0] == 1
    assert split(driver, 8, groups=0)[0] == 1
    assert split(driver, 8, source=Resource())[0] == 914
    _, (group,), rest = split(driver, 8)
    assert split(driver, 8, source=group)[0] == split(driver, 8, source=rest)[0] == 915, (
        "a context is required"
    )
    assert driver.result(SPLIT, None, None, ctypes.byref(resource), None, 0, 8) == 1
    assert driver.result(SPLIT, None, ctypes.byref(count), None, None, 0, 8) == 1
    driver(SPLIT, None, ctypes.byref(count), ctypes.byref(resource), None, 0, 8)
    assert count.value == resource.count // 8


def test_resource_descriptions_are_checked(driver: Driver) -> None:
    generate, place = "cuDevResourceGenerateDesc", ctypes.byref(ctypes.c_void_p())
    _, (group,), rest = split(driver, 8)
    describe(driver, group, rest)
    assert driver.result(generate, place, ctypes.byref(Resource()), 1) == 914
    assert driver.result(generate, place, None, 0) == driver.result(generate, place, None, 1) == 1
    assert driver.result(generate, None, ctypes.byref(group), 1) == 1


def test_invalid_green_context_creation_is_refused(driver: Driver) -> None:
    create, place = "cuGreenCtxCreate", ctypes.byref(ctypes.c_void_p())
    description = describe(driver, query_device_resource(driver))
    assert [driver.result(create, place, description, 0, flags) for flags in (0, 2, 3)] == [1, 1, 1]
    assert driver.result(create, place, description, 1, 1) == 101
    assert driver.result(create, None, description, 0, 1) == 1
    driver("cuGreenCtxDestroy", driver.handle(create, None, 0, 1))
    assert driver.result("cuGreenCtxDestroy", None) == 201


def test_green_context_works_as_context(driver: Driver, green: Any) -> None:
    context, resource = driver.handle("cuCtxFromGreenCtx", green), Resource()
    assert driver.handle("cuCtxFromGreenCtx", green).value == context.value
    for name, handle in (("cuGreenCtxGetDevResource", green), ("cuCtxGetDevResource", context)):
        driver(name, handle, ctypes.byref(resource), SM)
        assert (resource.type, resource.count) == (SM, 8)
    assert driver.result("cuGreenCtxGetDevResource", green, ctypes.byref(resource), 0) == 914
    assert driver.result("cuGreenCtxGetDevResource", green, None, SM) == 1
    assert driver.result("cuCtxFromGreenCtx", None, green) == 1
    assert driver.result("cuCtxFromGreenCtx", ctypes.byref(ctypes.c_void_p()), None) == 201
    assert driver.result("cuCtxDestroy_v2", context) == 201
    ids = [ctypes.c_ulonglong() for _ in range(3)]
    driver("cuGreenCtxGetId", green, ctypes.byref(ids[0]))
    driver("cuCtxGetId", context, ctypes.byref(ids[1]))
    assert driver.result("cuGreenCtxGetId", None, ctypes.byref(ids[2])) == 201
    driver("cuCtxPushCurrent_v2", context)
    driver("cuGreenCtxGetId", None, ctypes.byref(ids[2]))
    driver("cuCtxPopCurrent_v2", None)
    assert len({number.value for number in ids}) == 1


def test_green_context_streams_belong_to_it(driver: Driver, green: Any) -> None:
    context = driver.handle("cuCtxFromGreenCtx", green)
    for flags in (0, 2):
        assert driver.result("cuGreenCtxStreamCreate", ctypes.byref(ctypes.c_void_p()), green, flags, 0) == 1
    result = driver.handle("cuGreenCtxStreamCreate", green, 1, -1)
    driver("cuCtxPushCurrent_v2", context)
    inside = driver.handle("cuStreamCreate", 0)
    actual, owner = ctypes.c_void_p(), ctypes.c_void_p()
    for stream in (result, inside, None):
        driver("cuStreamGetGreenCtx", stream, ctypes.byref(actual))
        assert actual.value == green.value
        driver("cuStreamGetCtx", stream, ctypes.byref(owner))
        assert owner.value == context.value
    driver("cuCtxPopCurrent_v2", None)
    driver("cuStreamGetGreenCtx", None, ctypes.byref(actual))
    assert actual.value is None
    for stream in (result, inside):
        driver("cuStreamDestroy_v2", stream)


def test_green_context_memory_belongs_to_primary_context(driver: Driver) -> None:
    """Work runs, and its results outlive the green context."""
    _, (group,), _ = split(driver, 8)
    green = driver.handle("cuGreenCtxCreate", describe(driver, group), 0, 1)
    primary = driver.handle("cuDevicePrimaryCtxRetain", 0)
    stream = driver.handle("cuGreenCtxStreamCreate", green, 1, 0)
    driver("cuCtxPushCurrent_v2", driver.handle("cuCtxFromGreenCtx", green))
    memory, function = driver.allocate(4), driver.function(STORE, "store")
    assert driver.launch(function, [memory, ctypes.c_uint(5)], stream=stream) == 0
    driver("cuStreamSynchronize", stream)
    driver("cuCtxPopCurrent_v2", None)
    driver("cuCtxPushCurrent_v2", primary)
    event = driver.handle("cuEventCreate", 2)
    driver("cuEventRecord", event, stream)
    driver("cuGreenCtxRecordEvent", green, event)
    driver("cuEventSynchronize", event)
    driver("cuGreenCtxWaitEvent", green, event)
    driver("cuStreamBeginCapture_v2", stream, 2)
    assert driver.result("cuGreenCtxRecordEvent", green, event) == 900
    assert driver.result("cuStreamEndCapture", stream, ctypes.byref(ctypes.c_void_p())) == 901
    driver("cuStreamDestroy_v2", stream)
    driver("cuGreenCtxDestroy", green)
    assert driver.read(memory, 4) == b"\5\0\0\0"
    driver("cuMemFree_v2", memory)
    driver("cuCtxPopCurrent_v2", None)
    driver("cuDevicePrimaryCtxRelease_v2", 0)


def test_green_context_keeps_primary_context_active(driver: Driver) -> None:
    def active() -> int:
        value = ctypes.c_int(-1)
        driver("cuDevicePrimaryCtxGetState", 0, ctypes.byref(ctypes.c_uint()), ctypes.byref(value))
        return value.value

    before = active()
    green = driver.handle("cuGreenCtxCreate", None, 0, 1)
    assert active() == 1
    driver("cuGreenCtxDestroy", green)
    assert active() == before
