"""Whether a GPU lets one process at a time have a context on it, as NVML says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .nvml import ask, load_nvml


def is_exclusive(gpus: Sequence[str], load: Callable[[], Any] = load_nvml) -> bool:
    """Whether one of `gpus`, named by UUID, has the compute mode "exclusive process". False if NVML cannot tell."""
    return bool(ask(gpus, _has_exclusive, load))


def _has_exclusive(nvml: Any, devices: Sequence[Any]) -> bool:
    return nvml.NVML_COMPUTEMODE_EXCLUSIVE_PROCESS in map(nvml.nvmlDeviceGetComputeMode, devices)
