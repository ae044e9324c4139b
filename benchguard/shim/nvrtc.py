"""Where NVRTC is: as a toolkit or the package nvidia-cuda-nvrtc has it, which the loader does not look into."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

from ..toolchain.paths import HIP_SIM

NAMES = ("libnvrtc.so.13", "libnvrtc.so.12")
VARIABLE = "NEUTRINO_NVRTC"
"""Names the file to the CPU driver's hiprtc (sim/hip/nvrtc.c)."""

_HOMES = ("CUDA_HOME", "CUDA_PATH")


def nvrtc_files() -> Iterator[Path]:
    """Those that are there, toolkits' first."""
    folders = [home / name for home in toolkits() for name in ("lib64", "lib")]
    folders += [folder / "lib" for folder in packages()]
    return (file for folder in folders for name in NAMES if (file := folder / name).is_file())


def hiprtc_environment(driver: Path) -> dict[str, str]:
    """Variables with which `driver` finds a compiler in a process; empty unless it is the CPU driver.

    Variables of this process's environment take precedence.
    """
    if driver != HIP_SIM.resolve():
        return {}
    path = os.environ.get(VARIABLE)
    file = Path(path) if path else next(nvrtc_files(), None)
    return {} if file is None else {VARIABLE: str(file)}


def toolkits() -> list[Path]:
    homes = [Path(os.environ[name]) for name in _HOMES if os.environ.get(name)]
    return [*homes, Path("/usr/local/cuda")]


def packages() -> Iterator[Path]:
    spec = importlib.util.find_spec("nvidia")
    for place in (spec.submodule_search_locations or ()) if spec is not None else ():
        yield from sorted(Path(place).glob("cu1?"), reverse=True)
        yield from (Path(place) / name for name in ("cuda_nvrtc", "cuda_runtime"))
