"""NVRTC for the CPU driver as HIP's: its hiprtc compiles with it."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping
from pathlib import Path

from .driver import Driver

VARIABLE = "NEUTRINO_NVRTC"
"""Says to the CPU driver (sim/hip/nvrtc.h) where NVRTC is, where the loader does not find it by its name."""

_WHEELS = ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12")
_NAMES = ("libnvrtc.so.13", "libnvrtc.so.12")


def nvrtc_environment(driver: Driver) -> Mapping[str, str]:
    """What a process on `driver` is told: the installed wheel's, if it is the CPU driver as HIP's and there is one."""
    if driver.api != "hip" or not driver.is_sim:
        return {}
    found = next((path for wheel in _WHEELS for path in _libraries(wheel)), None)
    return {} if found is None else {VARIABLE: str(found)}


def _libraries(wheel: str) -> list[Path]:
    try:
        distribution = importlib.metadata.distribution(wheel)
    except importlib.metadata.PackageNotFoundError:
        return []
    return [
        Path(str(distribution.locate_file(file))) for file in distribution.files or () if file.name in _NAMES
    ]
