"""Names of GPUs that are the same for all processes of a machine, in every container."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

WHOLE_MACHINE = ("all",)
"""The name for a machine whose GPUs NVML does not list: then one grade at a time uses any of them."""


def gpus_of(
    device: int,
    environment: Mapping[str, str],
    load: Callable[[], Any] = lambda: import_module("pynvml"),
) -> tuple[str, ...]:
    """UUIDs of the GPUs that CUDA's ordinal `device` may name. No driver is started.

    NVML's order is that of the PCI bus. CUDA's is the same if CUDA_DEVICE_ORDER says so, or if all GPUs are equal
    (CUDA C++ Programming Guide, "CUDA Environment Variables"). If it may be another one, or if a GPU is divided into
    instances (MIG), these are all GPUs.
    """
    uuids, is_ordered = _listed(environment, load)
    chosen = _visible(uuids, environment.get("CUDA_VISIBLE_DEVICES"), is_ordered)
    if chosen is None or device >= len(chosen):
        return tuple(sorted(uuids)) or WHOLE_MACHINE
    return (chosen[device],)


def visible_gpus(
    environment: Mapping[str, str], load: Callable[[], Any] = lambda: import_module("pynvml")
) -> tuple[str, ...]:
    """UUIDs of the GPUs that a CUDA program sees, in any order; none if that is not clear."""
    uuids, is_ordered = _listed(environment, load)
    words = environment.get("CUDA_VISIBLE_DEVICES")
    return tuple(uuids if words is None else _visible(uuids, words, is_ordered) or ())


def _listed(environment: Mapping[str, str], load: Callable[[], Any]) -> tuple[list[str], bool]:
    """The machine's GPUs in NVML's order (empty if NVML does not tell), and whether CUDA has the same order."""
    try:
        nvml = load()
    except ImportError:
        return [], False
    try:
        nvml.nvmlInit()
    except nvml.NVMLError:
        return [], False
    try:
        handles = [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(nvml.nvmlDeviceGetCount())]
        uuids = [_text(nvml.nvmlDeviceGetUUID(each)) for each in handles]
        names = {_text(nvml.nvmlDeviceGetName(each)) for each in handles}
    except nvml.NVMLError:
        return [], False
    finally:
        nvml.nvmlShutdown()
    return uuids, len(names) == 1 or environment.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID"


def _visible(uuids: list[str], words: str | None, is_ordered: bool) -> list[str] | None:
    """The GPUs in CUDA's order; None if that is not known."""
    if words is None:
        return uuids if is_ordered or len(uuids) == 1 else None
    chosen = []
    for word in (each.strip() for each in words.split(",")):
        if word.isdecimal() and (is_ordered or len(uuids) == 1) and int(word) < len(uuids):
            chosen.append(uuids[int(word)])
            continue
        named = [each for each in uuids if word.startswith("GPU-") and each.startswith(word)]
        if len(named) != 1:
            return None
        chosen += named
    return chosen


def _text(value: str | bytes) -> str:
    return value.decode("ascii", "replace") if isinstance(value, bytes) else value
