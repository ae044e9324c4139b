"""Clocks through an NVML that is made up, and without one."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from types import SimpleNamespace

import pytest

from benchguard.replay.clocks import (
    ClockWatch,
    Reading,
    Spread,
    is_descendant,
    reason_names,
    summarise_clocks,
    throttled_at,
)
from tests.support.waiting import wait_until

MS = 1_000_000


class NvmlError(Exception):
    pass


class NotSupportedError(NvmlError):
    pass


def made_up(**changes: object) -> SimpleNamespace:
    """A fake pynvml: functions that read answer, functions that set do not exist."""

    def not_supported(*_: object) -> int:
        raise NotSupportedError("not supported")

    parts: dict[str, object] = {
        "NVMLError": NvmlError,
        "NVMLError_NotSupported": NotSupportedError,
        "NVML_CLOCK_SM": 1,
        "NVML_CLOCK_MEM": 2,
        "NVML_TEMPERATURE_GPU": 0,
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlDeviceGetHandleByPciBusId": lambda bus: bus,
        "nvmlDeviceGetClockInfo": lambda _, kind: {1: 1980, 2: 2619}[kind],
        "nvmlDeviceGetTemperature": lambda *_: 41,
        "nvmlDeviceGetPowerUsage": not_supported,
        "nvmlDeviceGetCurrentClocksThrottleReasons": lambda _: 0x5,
        "nvmlDeviceGetComputeRunningProcesses": lambda _: [],
    }
    return SimpleNamespace(**{**parts, **changes})


def watched(nvml: SimpleNamespace, pci_bus: str = "0000:19:00.0") -> ClockWatch:
    watch = ClockWatch(lambda: nvml)
    watch.start(pci_bus)
    wait_until(lambda: len(watch.readings) >= 3 or bool(watch.unavailable))
    watch.stop()
    return watch


def reading(at_ms: int, sm_mhz: int | None = 1980, reasons: int = 0) -> Reading:
    return Reading(at_ms * MS, sm_mhz, None, 41, None, reasons)


@pytest.mark.parametrize(
    ("pids", "others"),
    [
        ([os.getpid()], 0),
        ([os.getpid(), 1], 1),
        ([1], 0),  # our own process is not in the list: the ids are those of another name space
        ([os.getpid(), 1, 2**22 + 1], 2),
    ],
)
def test_processes_besides_ours_are_counted(pids: list[int], others: int) -> None:
    listed = [SimpleNamespace(pid=each) for each in pids]
    watch = watched(made_up(nvmlDeviceGetComputeRunningProcesses=lambda _: listed))
    times = [each.time_ns for each in watch.readings]
    assert summarise_clocks(watch.readings, times, "").other_processes == others


def test_child_of_a_child_is_ours() -> None:
    with subprocess.Popen(
        ["sh", "-c", "sleep 60 & echo $!; wait"], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        grandchild = int(child.stdout.readline())
        assert is_descendant(grandchild, os.getpid()) and not is_descendant(os.getpid(), grandchild)
        os.kill(grandchild, signal.SIGKILL)


def test_watch_reads_clocks_until_stopped() -> None:
    watch = watched(made_up())
    assert len(watch.readings) >= 3 and watch.unavailable == ""
    first = watch.readings[0]
    assert (first.sm_mhz, first.memory_mhz, first.celsius, first.watts) == (1980, 2619, 41, None)
    count = len(watch.readings)
    time.sleep(0.05)
    assert len(watch.readings) == count


def failing(*_: object) -> None:
    raise NvmlError("made up")


@pytest.mark.parametrize(
    ("nvml", "pci_bus", "said"),
    [
        (made_up(), "", "CPU driver"),
        (made_up(nvmlInit=failing), "0", "does not start: made up"),
        (made_up(nvmlDeviceGetHandleByPciBusId=failing), "0", "does not read device 0: made up"),
        (made_up(nvmlDeviceGetTemperature=failing), "0", "does not read device 0: made up"),
    ],
)
def test_unreadable_clocks_give_a_reason(nvml: SimpleNamespace, pci_bus: str, said: str) -> None:
    watch = watched(nvml, pci_bus)
    assert said in watch.unavailable and not watch.readings
    assert said in summarise_clocks(watch.readings, [1], watch.unavailable).unavailable


def test_missing_pynvml_gives_a_reason() -> None:
    def load() -> object:
        raise ImportError("No module named 'pynvml'")

    watch = ClockWatch(load)
    watch.start("0")
    watch.stop()
    assert watch.unavailable == "No module named 'pynvml'; pip install nvidia-ml-py"


def test_watch_stopped_before_start_does_nothing() -> None:
    watch = ClockWatch(made_up)
    watch.stop()
    watch.stop()


def test_throttle_reasons_are_named() -> None:
    assert reason_names(0x4 | 0x40) == ("power cap", "temperature (hardware)")
    assert reason_names(0x1 | 0x2 | 0x10 | 0x100) == ()  # idle, and what a user set


def test_samples_get_the_reasons_of_the_nearest_reading() -> None:
    readings = [reading(0), reading(10, reasons=0x4), reading(20)]
    at = [0, 4 * MS, 6 * MS, 14 * MS, 16 * MS, 500 * MS]
    assert throttled_at(readings, at) == [(), (), ("power cap",), ("power cap",), (), ()]
    assert throttled_at([], [5]) == [()]


def test_readings_outside_the_samples_are_ignored() -> None:
    readings = [
        reading(0, 300),
        *(reading(1000 + 10 * i, 1900 + i, 0x4) for i in range(5)),
        reading(9000, 300),
    ]
    result = summarise_clocks(readings, [1000 * MS, 1040 * MS], "")
    assert result.readings == 5
    assert result.sm_mhz == Spread(1900, 1902, 1904)
    assert result.watts is None and result.throttle == {"power cap": 5} and result.throttled_samples == 2


def test_clocks_without_samples_are_unavailable() -> None:
    assert summarise_clocks([reading(0)], [], "").unavailable == "no samples were taken"
