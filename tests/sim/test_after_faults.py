"""Results of calls after a kernel's fault, and recovery. Codes are those of a GPU's driver. On a GPU a fault
lasts until the process ends; here it ends with the context, so a reset of the primary context recovers."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import pytest

from .conftest import PTX_HEAD, STORE, Driver
from .test_streams import CALLBACK, HOST_FUNCTION, hold_stream

TRAP = PTX_HEAD + ".visible .entry trap()\n{\n    trap;\n    ret;\n}\n"
FAULTS = {"illegal address": 700, "misaligned address": 716, "trap": 719}


def out() -> Any:
    return ctypes.byref(ctypes.create_string_buffer(256))


def cause_fault(driver: Driver, how: str, stream: Any = None) -> None:
    if how == "trap":
        assert driver.launch(driver.function(TRAP, "trap"), [], stream=stream) == 0
        return
    address = 0x7FFF00000000 if how == "illegal address" else driver.allocate(64).value + 2
    function = driver.function(STORE, "store")
    assert driver.launch(function, [ctypes.c_uint64(address), ctypes.c_uint(1)], stream=stream) == 0


STICKY = (
    "cuCtxSynchronize",
    "cuStreamSynchronize s",
    "cuStreamQuery s",
    "cuStreamSynchronize N",
    "cuStreamQuery N",
    "cuEventQuery e",
    "cuEventSynchronize e",
    "cuEventElapsedTime_v2 & e e",
    "cuEventRecord e s",
    "cuStreamWaitEvent s e 0",
    "cuEventCreate & 0",
    "cuStreamCreate & 0",
    "cuStreamGetPriority s &",
    "cuStreamGetFlags s &",
    "cuStreamGetId s &",
    "cuStreamGetCtx s &",
    "cuStreamIsCapturing s &",
    "cuStreamGetCaptureInfo_v2 s & N N N N",
    "cuStreamBeginCapture_v2 s 0",
    "cuStreamEndCapture s &",
    "cuStreamGetAttribute s 8 &",
    "cuStreamSetAttribute s 8 &",
    "cuStreamCopyAttributes s s",
    "cuStreamWriteValue32_v2 s m 1 0",
    "cuStreamBatchMemOp_v2 s 0 N 0",
    "cuStreamAttachMemAsync s m 0 1",
    "cuLaunchHostFunc s h N",
    "cuStreamAddCallback s h N 0",
    "cuLaunchKernel f 1 1 1 1 1 1 0 s N N",
    "cuMemAlloc_v2 & 64",
    "cuMemAlloc_v2 N 0",
    "cuMemHostAlloc & 64 0",
    "cuMemGetInfo_v2 & &",
    "cuMemGetAddressRange_v2 & & m",
    "cuMemcpyDtoH_v2 & m 4",
    "cuMemsetD8_v2 m 0 4",
    "cuModuleLoadData & i",
    "cuModuleGetFunction & o store",
    "cuModuleGetGlobal_v2 & & o counter",
    "cuFuncGetAttribute & 0 f",
    "cuGraphLaunch x s",
    "cuCtxGetLimit & 0",
    "cuCtxSetLimit 0 1024",
    "cuCtxGetCacheConfig &",
    "cuCtxSetCacheConfig 0",
    "cuCtxGetStreamPriorityRange & &",
    "cuCtxResetPersistingL2Cache",
    "cuCtxRecordEvent c e",
    "cuCtxAttach & 0",
    "cuMemFree_v2 m",
    "cuModuleUnload o",
    "cuEventDestroy_v2 e",
    "cuStreamDestroy_v2 s",
)
UNTOUCHED = (
    "cuThreadExchangeStreamCaptureMode mode",
    "cuCtxGetCurrent &",
    "cuCtxGetDevice &",
    "cuCtxGetFlags &",
    "cuCtxSetFlags 0",
    "cuCtxGetApiVersion c &",
    "cuCtxPopCurrent_v2 N",
    "cuCtxPushCurrent_v2 c",
    "cuCtxSetCurrent c",
    "cuDeviceGetCount &",
    "cuDeviceGetAttribute & 1 0",
    "cuDriverGetVersion &",
    "cuDevicePrimaryCtxGetState 0 & &",
)


@pytest.fixture(scope="module", params=FAULTS)
def broken(request: pytest.FixtureRequest, loaded: Driver) -> Iterator[tuple[Driver, dict[str, Any], int]]:
    """A faulted context and objects made before the fault."""
    context = loaded.handle("cuCtxCreate_v4", None, 0, 0)
    stream, event = loaded.handle("cuStreamCreate", 1), loaded.handle("cuEventCreate", 0)
    loaded("cuEventRecord", event, stream)
    module = loaded.handle("cuModuleLoadData", STORE.encode())
    graph = loaded.handle("cuGraphCreate", 0)
    handles: dict[str, Any] = {
        "c": context,
        "s": stream,
        "e": event,
        "o": module,
        "m": loaded.allocate(64),
        "f": loaded.handle("cuModuleGetFunction", module, b"nothing"),
        "x": loaded.handle("cuGraphInstantiateWithFlags", graph, ctypes.c_ulonglong(0)),
        "h": HOST_FUNCTION(lambda _: None),
        "i": STORE.encode(),
        "store": b"store",
        "counter": b"counter",
        "N": None,
        "mode": ctypes.byref(ctypes.c_int(0)),
    }
    loaded("cuCtxSynchronize")
    cause_fault(loaded, request.param)
    yield loaded, handles, FAULTS[request.param]
    loaded("cuCtxDestroy_v2", context)


def run_line(broken: tuple[Driver, dict[str, Any], int], line: str) -> int:
    driver, handles, _ = broken
    name, *words = line.split()
    arguments = (
        out() if word == "&" else handles[word] if word in handles else ctypes.c_int64(int(word))
        for word in words
    )
    return driver.result(name, *arguments)


@pytest.mark.parametrize("line", STICKY)
def test_call_after_fault_returns_fault(broken: tuple[Driver, dict[str, Any], int], line: str) -> None:
    broken[0].result("cuCtxSynchronize")
    assert run_line(broken, line) == broken[2]


@pytest.mark.parametrize("line", UNTOUCHED)
def test_call_allowed_after_fault_succeeds(broken: tuple[Driver, dict[str, Any], int], line: str) -> None:
    broken[0].result("cuCtxSynchronize")
    assert run_line(broken, line) == 0


def test_queued_work_after_fault_is_dropped(driver: Driver) -> None:
    """The callback gets the error, the host function is not called, and the event happens."""
    stream, calls = driver.handle("cuStreamCreate", 1), []
    callback = CALLBACK(lambda _stream, status, _data: calls.append(status))
    function = HOST_FUNCTION(lambda _: calls.append("called"))
    event = driver.handle("cuEventCreate", 0)
    with pytest.raises(Exception, match="700"), hold_stream(driver, stream):
        cause_fault(driver, "illegal address", stream)
        driver("cuStreamAddCallback", stream, callback, None, 0)
        driver("cuLaunchHostFunc", stream, function, None)
        driver("cuEventRecord", event, stream)
    assert calls == [700]
    assert driver.result("cuEventQuery", event) == 700


def test_stream_capture_after_fault_fails(driver: Driver) -> None:
    stream, other = driver.handle("cuStreamCreate", 1), driver.handle("cuStreamCreate", 1)
    driver("cuStreamBeginCapture_v2", stream, 2)
    cause_fault(driver, "illegal address", other)
    assert driver.result("cuStreamSynchronize", other) == 700
    assert driver.result("cuStreamIsCapturing", stream, out()) == 700
    assert driver.result("cuStreamEndCapture", stream, out()) == 700


def test_other_context_after_fault_works(driver: Driver) -> None:
    other = driver.handle("cuCtxCreate_v4", None, 0, 0)
    cause_fault(driver, "trap")
    assert driver.result("cuCtxSynchronize") == 719
    driver("cuCtxDestroy_v2", other)
    driver("cuCtxSynchronize")


@pytest.mark.parametrize("call", ["cuDevicePrimaryCtxReset_v2", "cuDevicePrimaryCtxRelease_v2"])
def test_primary_context_reset_after_fault_recovers(loaded: Driver, call: str) -> None:
    context = loaded.handle("cuDevicePrimaryCtxRetain", 0)
    loaded("cuCtxPushCurrent_v2", context)
    cause_fault(loaded, "illegal address")
    assert loaded.result("cuCtxSynchronize") == 700
    assert loaded.result("cuDevicePrimaryCtxRetain", out(), 0) == 700
    loaded(call, 0)
    assert loaded.result("cuCtxSynchronize") == 709
    loaded("cuDevicePrimaryCtxRetain", out(), 0)
    loaded("cuCtxSynchronize")
    loaded("cuMemFree_v2", loaded.allocate(64))
    loaded("cuCtxPopCurrent_v2", None)
    while loaded.result("cuDevicePrimaryCtxRelease_v2", 0) == 0:
        pass


def test_green_context_shares_fault_of_primary_context(loaded: Driver) -> None:
    primary = loaded.handle("cuDevicePrimaryCtxRetain", 0)
    green = loaded.handle("cuGreenCtxCreate", None, 0, 1)
    loaded("cuCtxPushCurrent_v2", loaded.handle("cuCtxFromGreenCtx", green))
    cause_fault(loaded, "trap")
    assert loaded.result("cuCtxSynchronize") == 719
    loaded("cuCtxSetCurrent", primary)
    assert loaded.result("cuCtxSynchronize") == 719
    loaded("cuGreenCtxDestroy", green)
    loaded("cuCtxPopCurrent_v2", None)
    loaded("cuDevicePrimaryCtxRelease_v2", 0)
