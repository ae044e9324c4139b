"""Triton's do_bench, on the CPU driver."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import benchguard
from benchguard.compat.do_bench import do_bench, quantile, summary
from benchguard.errors import UsageError
from tests.conftest import ROOT

PROGRAM = """
import ctypes, json, sys, time
import benchguard

if len(sys.argv) > 4:
    from benchguard.compat import timing
    timing.HOLD_NANOSECONDS = int(sys.argv[4])
driver = ctypes.CDLL("libcuda.so.1")
memory, calls = ctypes.c_uint64(), 0

def fn():
    global calls
    if not calls:
        assert driver.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1 << 22)) == 0
    calls += 1
    for _ in range(int(sys.argv[1])):
        assert driver.cuMemsetD8Async(memory, 1, ctypes.c_size_t(1 << 22), None) == 0
    if sys.argv[2] == "waits":
        assert driver.cuStreamSynchronize(None) == 0
    time.sleep(float(sys.argv[3]))

class Tensor:
    grad = "a gradient"

tensor = Tensor()
context = ctypes.c_void_p()
driver.cuInit(0), driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), driver.cuCtxSetCurrent(context)
times = benchguard.do_bench(fn, warmup=1, rep=20, grad_to_none=[tensor], return_mode="all")
fifths = benchguard.do_bench(fn, warmup=1, rep=5, quantiles=[0, 0.5, 1])
print(json.dumps([times, fifths, calls, tensor.grad]))
"""


def run(native: Path, *words: str) -> Any:
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "LD_LIBRARY_PATH": str(native / "sim"),
    }
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env=environment,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_signature_equals_tritons() -> None:
    parameters = inspect.signature(benchguard.do_bench).parameters
    assert {name: each.default for name, each in parameters.items()} == {
        "fn": inspect.Parameter.empty, "warmup": 25, "rep": 100, "grad_to_none": None, "quantiles": None,
        "return_mode": "mean",
    }  # fmt: skip


def test_calls_have_positive_times_and_sorted_quantiles(native: Path) -> None:
    times, quantiles, calls, gradient = run(native, "1", "queues", "0")
    assert len(times) >= 1 and all(time > 0 for time in times)
    assert quantiles == sorted(quantiles) and len(quantiles) == 3
    assert calls > len(times) and gradient is None


def test_time_excludes_host_work_of_the_call(native: Path) -> None:
    """The device starts when the call is queued: otherwise 200 ms of host work would be in the time."""
    times, _, _, _ = run(native, "1", "queues", "0.2", str(10**12))
    assert min(times) < 180


def test_call_that_waits_for_the_device_ends(native: Path) -> None:
    """The stream is held for a limited time."""
    times, _, _, _ = run(native, "1", "waits", "0")
    assert all(time > 0 for time in times)


def test_return_modes_and_quantiles_summarise_times() -> None:
    times = [4.0, 1.0, 3.0, 2.0]
    modes: tuple[Any, ...] = ("min", "max", "mean", "median", "all")
    assert [summary(times, None, mode) for mode in modes] == [1.0, 4.0, 2.5, 2.5, times]
    assert summary(times, [0.5], "mean") == 2.5
    assert summary(times, [0.0, 0.25, 1.0], "mean") == [1.0, 1.75, 4.0]
    assert quantile([7.0], 0.9) == 7.0


def test_invalid_mode_or_quantile_is_usage_error() -> None:
    with pytest.raises(UsageError, match="return_mode"):
        do_bench(lambda: None, return_mode="mode")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="quantiles"):
        do_bench(lambda: None, quantiles=[0.2, 80])
