"""Streams, events and their timing through cuda.bindings: order within and between streams, as the manual has it."""

from __future__ import annotations

import sys

import numpy as np
from cuda.bindings import driver
from driver_calls import begin, check, compile_ptx, equal, from_device, launch, refused, to_device

SOURCE = """
extern "C" __global__ void append(int *log, int *length, int what)
{
    log[(*length)++] = what;
}

extern "C" __global__ void wait(volatile int *flag)
{
    while (*flag == 0)
        ;
}
"""
ERROR = driver.CUresult
EVENT = driver.CUevent_flags
NONBLOCKING = driver.CUstream_flags.CU_STREAM_NON_BLOCKING.value


class Device:
    """The module's kernels and a log that they write."""

    def __init__(self) -> None:
        self.module = check(driver.cuModuleLoadData(compile_ptx(SOURCE)))
        self._append = check(driver.cuModuleGetFunction(self.module, b"append"))
        self._wait = check(driver.cuModuleGetFunction(self.module, b"wait"))
        self._log = to_device(np.zeros(64, np.int32))
        self._length = to_device(np.zeros(1, np.int32))
        host = check(driver.cuMemHostAlloc(4, driver.CU_MEMHOSTALLOC_DEVICEMAP))
        self._flag_on_host = host
        self._flag_on_device = check(driver.cuMemHostGetDevicePointer(host, 0))
        self.gate = np.frombuffer((np.ctypeslib.ctypes.c_int32 * 1).from_address(int(host)), np.int32)
        self.gate[:] = 0

    def append(self, stream, what: int) -> None:
        launch(self._append, 1, 1, stream, self._log, self._length, np.int32(what))

    def wait(self, stream) -> None:
        """Queue a kernel that runs until the gate opens."""
        self.gate[0] = 0
        launch(self._wait, 1, 1, stream, self._flag_on_device)

    def take(self) -> list[int]:
        """The log, which is then empty."""
        check(driver.cuCtxSynchronize())
        (length,) = from_device(self._length, 1, np.int32)
        log = from_device(self._log, 64, np.int32)[:length]
        check(driver.cuMemsetD32(self._length, 0, 1))
        check(driver.cuCtxSynchronize())  # non-blocking streams do not wait for the memset
        return log.tolist()

    def close(self) -> None:
        check(driver.cuMemFreeHost(self._flag_on_host))
        check(driver.cuMemFree(self._log))
        check(driver.cuMemFree(self._length))
        check(driver.cuModuleUnload(self.module))


def within_a_stream(device: Device) -> None:
    stream = check(driver.cuStreamCreate(NONBLOCKING))
    device.wait(stream)
    for what in range(5):
        device.append(stream, what)
    refused(driver.cuStreamQuery(stream), ERROR.CUDA_ERROR_NOT_READY)
    device.gate[0] = 1
    check(driver.cuStreamSynchronize(stream))
    check(driver.cuStreamQuery(stream))
    equal(device.take(), list(range(5)), "order within a stream")
    check(driver.cuStreamDestroy(stream))


def between_streams(device: Device) -> None:
    first, second = (check(driver.cuStreamCreate(NONBLOCKING)) for _ in range(2))
    event = check(driver.cuEventCreate(EVENT.CU_EVENT_DISABLE_TIMING.value))
    check(driver.cuEventQuery(event))
    device.wait(first)
    device.append(first, 1)
    check(driver.cuEventRecord(event, first))
    check(driver.cuStreamWaitEvent(second, event, 0))
    device.append(second, 2)
    refused(driver.cuEventQuery(event), ERROR.CUDA_ERROR_NOT_READY)
    refused(driver.cuStreamQuery(second), ERROR.CUDA_ERROR_NOT_READY)
    device.gate[0] = 1
    check(driver.cuEventSynchronize(event))
    check(driver.cuStreamSynchronize(second))
    equal(device.take(), [1, 2], "order between streams by an event")
    refused(driver.cuEventElapsedTime(event, event), ERROR.CUDA_ERROR_INVALID_HANDLE)
    check(driver.cuEventDestroy(event))
    for stream in (first, second):
        check(driver.cuStreamDestroy(stream))


def the_default_stream(device: Device) -> None:
    """The legacy stream waits for blocking streams, and they for it; a non-blocking one does neither."""
    blocking = check(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_DEFAULT.value))
    apart = check(driver.cuStreamCreate(NONBLOCKING))
    legacy = driver.CUstream(driver.CU_STREAM_LEGACY)
    device.wait(blocking)
    device.append(blocking, 1)
    device.append(legacy, 2)
    device.append(blocking, 3)
    check(driver.cuStreamSynchronize(apart))
    refused(driver.cuStreamQuery(legacy), ERROR.CUDA_ERROR_NOT_READY)
    device.gate[0] = 1
    equal(device.take(), [1, 2, 3], "order of the default stream and a blocking one")
    for stream in (blocking, apart):
        check(driver.cuStreamDestroy(stream))


def timing(device: Device) -> None:
    stream = check(driver.cuStreamCreate(NONBLOCKING))
    start, end = (check(driver.cuEventCreate(EVENT.CU_EVENT_DEFAULT.value)) for _ in range(2))
    refused(driver.cuEventElapsedTime(start, end), ERROR.CUDA_ERROR_INVALID_HANDLE)
    check(driver.cuEventRecord(start, stream))
    device.wait(stream)
    check(driver.cuEventRecord(end, stream))
    refused(driver.cuEventElapsedTime(start, end), ERROR.CUDA_ERROR_NOT_READY)
    device.gate[0] = 1
    check(driver.cuEventSynchronize(end))
    elapsed = check(driver.cuEventElapsedTime(start, end))
    if not 0 < elapsed < 60_000:
        raise SystemExit(f"{elapsed} ms between the events")
    for event in (start, end):
        check(driver.cuEventDestroy(event))
    check(driver.cuStreamDestroy(stream))


def properties() -> None:
    lowest, highest = check(driver.cuCtxGetStreamPriorityRange())
    stream = check(driver.cuStreamCreateWithPriority(NONBLOCKING, highest))
    equal(check(driver.cuStreamGetPriority(stream)), highest, "priority")
    equal(check(driver.cuStreamGetFlags(stream)), NONBLOCKING, "flags")
    equal(lowest >= highest, True, "a lower number is a higher priority")
    equal(int(check(driver.cuStreamGetCtx(stream))) == int(check(driver.cuCtxGetCurrent())), True, "context")
    check(driver.cuStreamGetId(stream))
    flags = driver.CUevent_flags.CU_EVENT_BLOCKING_SYNC.value
    check(driver.cuEventDestroy(check(driver.cuEventCreate(flags))))
    refused(driver.cuStreamCreate(0xFF), ERROR.CUDA_ERROR_INVALID_VALUE)
    check(driver.cuStreamDestroy(stream))


def main() -> int:
    chosen, _ = begin()
    device = Device()
    within_a_stream(device)
    between_streams(device)
    the_default_stream(device)
    timing(device)
    properties()
    device.close()
    check(driver.cuDevicePrimaryCtxRelease(chosen))
    return 0


if __name__ == "__main__":
    sys.exit(main())
