"""Device clocks and other processes during the samples, read through NVML by a thread of the supervisor.

No setting is changed.
"""

from __future__ import annotations

import os
import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from .statistics import quantile

PERIOD_SECONDS = 0.01
OTHERS_SECONDS = 0.25
"""Time between two questions to NVML for other processes."""

NEAR_SECONDS = 0.05
"""A reading speaks for samples this near."""

JOIN_SECONDS = 1.0
READINGS_MAX = 100_000

# nvmlClocksThrottleReason* of nvml.h, without idling and limits that the user set on purpose.
REASONS = {
    0x04: "power cap",
    0x08: "hardware slowdown",
    0x20: "temperature (software)",
    0x40: "temperature (hardware)",
    0x80: "power brake",
}


@dataclass(frozen=True)
class Reading:
    """At a time of the monotonic clock; None for what the device does not tell."""

    time_ns: int
    sm_mhz: int | None
    memory_mhz: int | None
    celsius: int | None
    watts: float | None
    reasons: int
    others: int = 0


@dataclass(frozen=True)
class Spread:
    min: float
    median: float
    max: float


@dataclass(frozen=True)
class Clocks:
    """`unavailable` explains missing readings. `throttle` counts readings by reason. `other_processes` is the largest
    number of processes besides this grade's that had the device open for computing."""

    unavailable: str
    readings: int = 0
    sm_mhz: Spread | None = None
    memory_mhz: Spread | None = None
    celsius: Spread | None = None
    watts: Spread | None = None
    throttle: dict[str, int] | None = None
    throttled_samples: int = 0
    other_processes: int = 0


def reason_names(bits: int) -> tuple[str, ...]:
    return tuple(name for bit, name in REASONS.items() if bits & bit)


def throttled_at(readings: Sequence[Reading], times_ns: Iterable[int]) -> list[tuple[str, ...]]:
    """For each time why the clocks were throttled, by the reading nearest to it."""
    at = [reading.time_ns for reading in readings]
    times = []
    for moment in times_ns:
        index = bisect_left(at, moment)
        near = [i for i in (index - 1, index) if 0 <= i < len(at)]
        nearest = min(near, key=lambda i: abs(at[i] - moment), default=None)
        far = nearest is None or abs(at[nearest] - moment) > NEAR_SECONDS * 1e9
        times.append(() if nearest is None or far else reason_names(readings[nearest].reasons))
    return times


def summarise_clocks(readings: Sequence[Reading], times_ns: Sequence[int], unavailable: str) -> Clocks:
    """Summarise the readings taken while samples ran."""
    if not times_ns:
        return Clocks(unavailable or "no samples were taken")
    first, last = min(times_ns) - NEAR_SECONDS * 1e9, max(times_ns) + NEAR_SECONDS * 1e9
    during = [reading for reading in readings if first <= reading.time_ns <= last]
    if not during:
        return Clocks(unavailable or "NVML gave no reading in time")
    throttle = Counter(name for reading in during for name in reason_names(reading.reasons))
    return Clocks(
        unavailable="",
        readings=len(during),
        sm_mhz=_spread(reading.sm_mhz for reading in during),
        memory_mhz=_spread(reading.memory_mhz for reading in during),
        celsius=_spread(reading.celsius for reading in during),
        watts=_spread(reading.watts for reading in during),
        throttle=dict(sorted(throttle.items())),
        throttled_samples=sum(map(bool, throttled_at(during, times_ns))),
        other_processes=max(reading.others for reading in during),
    )


def _spread(values: Iterable[float | None]) -> Spread | None:
    ordered = sorted(float(value) for value in values if value is not None)
    return Spread(ordered[0], quantile(ordered, 0.5), ordered[-1]) if ordered else None


class ClockWatch:
    """Reads a device every PERIOD_SECONDS, from `start` to `stop`."""

    def __init__(self, load: Callable[[], Any] = lambda: import_module("pynvml")) -> None:
        self._load = load
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self.readings: list[Reading] = []
        self.unavailable = ""

    def start(self, pci_bus: str) -> None:
        """The device with this PCI bus id; empty: it has none."""
        if pci_bus:
            self._thread = threading.Thread(target=self._run, args=[pci_bus], name="clocks", daemon=True)
            self._thread.start()
        else:
            self.unavailable = "the driver names no PCI device (the CPU driver has none)"

    def stop(self) -> None:
        """May be called twice, and before start."""
        self._over.set()
        if self._thread is not None:
            self._thread.join(JOIN_SECONDS)

    def _run(self, pci_bus: str) -> None:
        try:
            nvml = self._load()
        except ImportError as error:
            self.unavailable = f"{error}; pip install nvidia-ml-py"
            return
        try:
            nvml.nvmlInit()
        except nvml.NVMLError as error:
            self.unavailable = f"NVML does not start: {error}"
            return
        try:
            device = nvml.nvmlDeviceGetHandleByPciBusId(pci_bus.encode())
            others, ask_at = 0, 0.0
            while not self._over.is_set() and len(self.readings) < READINGS_MAX:
                if time.monotonic() >= ask_at:
                    others, ask_at = _other_processes(nvml, device), time.monotonic() + OTHERS_SECONDS
                self.readings.append(_read(nvml, device, others))
                self._over.wait(PERIOD_SECONDS)
        except nvml.NVMLError as error:
            self.unavailable = f"NVML does not read device {pci_bus}: {error}"
        finally:
            nvml.nvmlShutdown()


def _read(nvml: Any, device: Any, others: int) -> Reading:
    def ask(call: Callable[..., int], *arguments: int) -> int | None:
        try:
            return int(call(device, *arguments))
        except nvml.NVMLError_NotSupported:
            return None

    milliwatts = ask(nvml.nvmlDeviceGetPowerUsage)
    return Reading(
        time_ns=time.monotonic_ns(),
        sm_mhz=ask(nvml.nvmlDeviceGetClockInfo, nvml.NVML_CLOCK_SM),
        memory_mhz=ask(nvml.nvmlDeviceGetClockInfo, nvml.NVML_CLOCK_MEM),
        celsius=ask(nvml.nvmlDeviceGetTemperature, nvml.NVML_TEMPERATURE_GPU),
        watts=None if milliwatts is None else milliwatts / 1000,
        reasons=ask(nvml.nvmlDeviceGetCurrentClocksThrottleReasons) or 0,
        others=others,
    )


def _other_processes(nvml: Any, device: Any) -> int:
    """How many processes compute on the device besides this one and its children; 0 if NVML does not tell.

    In a container NVML may name processes by the host's ids. The replay's own process is then not in the list.
    """
    try:
        found = [int(each.pid) for each in nvml.nvmlDeviceGetComputeRunningProcesses(device)]
    except nvml.NVMLError:
        return 0
    own = sum(is_descendant(each, os.getpid()) for each in found)
    return len(found) - own if own else 0


def is_descendant(pid: int, ancestor: int) -> bool:
    """Whether a process is `ancestor` or a child of it, of any depth."""
    while pid > 1 and pid != ancestor:
        try:
            status = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
        except OSError:
            return False
        pid = int(status.rpartition(")")[2].split()[1])
    return pid == ancestor
