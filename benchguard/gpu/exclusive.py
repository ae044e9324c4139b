"""Whether a GPU lets one process at a time have a context on it, as NVML says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any


def is_exclusive(gpus: Sequence[str], load: Callable[[], Any] = lambda: import_module("pynvml")) -> bool:
    """Whether one of `gpus`, named by UUID, has the compute mode "exclusive process". False if NVML cannot tell."""
    try:
        nvml = load()
        nvml.nvmlInit()
    except Exception:  # NVMLError is a member of a module that may be missing
        return False
    try:
        devices = [nvml.nvmlDeviceGetHandleByUUID(each) for each in gpus]
        modes = [nvml.nvmlDeviceGetComputeMode(each) for each in devices]
    except nvml.NVMLError:
        return False
    finally:
        nvml.nvmlShutdown()
    return nvml.NVML_COMPUTEMODE_EXCLUSIVE_PROCESS in modes
