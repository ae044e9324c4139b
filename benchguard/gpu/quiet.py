"""Wait until a GPU works on nothing, as NVML sees it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from .nvml import ask, load_nvml

CPU_DRIVER = "cpu-driver"
"""The name of the CPU driver among GPUs. Its work is done by the threads of its process."""

QUIET_SECONDS = 0.35
"""How long NVML must see no work. It counts in periods of at most this length (docs/adr/0032)."""

POLL_SECONDS = 0.02


def wait_until_quiet(gpus: Sequence[str], seconds: float, load: Callable[[], Any] = load_nvml) -> bool:
    """Whether no kernel and no copy ran on `gpus` for QUIET_SECONDS, which began at most `seconds` from now.

    Also False if NVML cannot tell.
    """
    if all(each == CPU_DRIVER for each in gpus):
        return True

    def wait(nvml: Any, devices: Sequence[Any]) -> bool:
        return _wait(lambda: not any(_works(nvml, each) for each in devices), seconds)

    return bool(ask(gpus, wait, load))


def _wait(is_idle: Callable[[], bool], seconds: float) -> bool:
    began = idle_from = time.monotonic()
    while True:
        now = time.monotonic()
        if not is_idle():
            idle_from = now
        elif now - idle_from >= QUIET_SECONDS:
            return True
        if idle_from - began > seconds:
            return False
        time.sleep(POLL_SECONDS)


def _works(nvml: Any, device: Any) -> bool:
    """Whether kernels (`gpu`) or copies (`memory`) took a part of NVML's last period."""
    rates = nvml.nvmlDeviceGetUtilizationRates(device)
    return bool(rates.gpu or rates.memory)
