"""Measure what two events around a launch add to its kernel's time.

An event's time stamp waits for the work before it, so that two events around an empty kernel are some microseconds
apart. Median of 64 empty kernels, between events in a stream that is never empty.
"""

from __future__ import annotations

import ctypes
import statistics
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from ..ipc.own_python import own_python

EMPTY_NS = 600
"""An empty kernel's own time: 610 ns by CUPTI on an H200 (driver 580.159.04)."""

LAUNCHES = 64
SECONDS = 20.0
_MEASURE = "from benchguard.gpu.launch_overhead import main; main()"
PTX = b"""
.version 7.0
.target sm_50
.address_size 64
.visible .entry empty()
{
  ret;
}
"""


def launch_overhead(driver: Path) -> int | None:
    """Measure in a process of its own, on the first GPU, in nanoseconds; None if that process fails."""
    try:
        done = subprocess.run(
            [*own_python(_MEASURE), str(driver)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    text = done.stdout.strip()
    return int(text) if done.returncode == 0 and text.isdigit() else None


def measure(driver: Path) -> int:
    """The overhead in nanoseconds, in this process. Raises OSError and RuntimeError."""
    cuda = ctypes.CDLL(str(driver))

    def call(name: str, *words: Any) -> None:
        status = getattr(cuda, name)(*words)
        if status != 0:
            raise RuntimeError(f"{name} returned {status}")

    context, module, kernel = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    call("cuCtxSetCurrent", context)
    call("cuModuleLoadData", ctypes.byref(module), PTX)
    call("cuModuleGetFunction", ctypes.byref(kernel), module, b"empty")
    events = [ctypes.c_void_p() for _ in range(2 * LAUNCHES)]
    for event in events:
        call("cuEventCreate", ctypes.byref(event), 0)

    def launch() -> None:
        call("cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, None, None, None)

    launch()
    call("cuCtxSynchronize")
    queued = threading.Event()
    wait = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: queued.wait(SECONDS) and None)
    call("cuLaunchHostFunc", None, wait, None)  # the GPU starts when all is queued
    pairs = list(zip(events[::2], events[1::2], strict=True))
    for start, end in pairs:
        call("cuEventRecord", start, None)
        launch()
        call("cuEventRecord", end, None)
    queued.set()
    call("cuCtxSynchronize")
    times = []
    for start, end in pairs:
        milliseconds = ctypes.c_float()
        call("cuEventElapsedTime", ctypes.byref(milliseconds), start, end)
        times.append(milliseconds.value * 1e6)
    return max(round(statistics.median(times)) - EMPTY_NS, 0)


def main() -> None:
    """Measure with the driver that the first argument names, and print the overhead."""
    try:
        print(measure(Path(sys.argv[1])))
    except (OSError, RuntimeError) as error:
        raise SystemExit(f"the time of an empty launch was not measured: {error}") from None
