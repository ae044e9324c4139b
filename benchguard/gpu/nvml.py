"""A question to NVML about some GPUs, on a machine that may have no NVML."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, TypeVar

_T = TypeVar("_T")


def load_nvml() -> Any:
    """Raises ImportError."""
    return import_module("pynvml")


def ask(gpus: Sequence[str], question: Callable[[Any, list[Any]], _T], load: Callable[[], Any]) -> _T | None:
    """The answer of `question(nvml, devices)`, whose devices are `gpus`, by UUID; None if NVML cannot tell."""
    try:
        nvml = load()
        nvml.nvmlInit()
    except Exception:  # NVMLError is a member of a module that may be missing
        return None
    try:
        return question(nvml, [nvml.nvmlDeviceGetHandleByUUID(each) for each in gpus])
    except nvml.NVMLError:
        return None
    finally:
        nvml.nvmlShutdown()
