"""Environment variables of the quarantine: an allow list, so that no variable of the caller gets in by accident."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

from ...toolchain.paths import SIM

KEPT = frozenset(
    {
        "CC",
        "CUDA_DEVICE_ORDER",
        "CUDA_HOME",
        "CUDA_PATH",
        "CUDA_VISIBLE_DEVICES",
        "CXX",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "LD_LIBRARY_PATH",
        "NVIDIA_DRIVER_CAPABILITIES",
        "NVIDIA_VISIBLE_DEVICES",
        "OMP_NUM_THREADS",
        "PATH",
        "SIM_GPU",
        "TORCH_CUDA_ARCH_LIST",
        "TRITON_PTXAS_PATH",
        "TZ",
    }
)
"""Variables copied from the caller: places of programs and libraries, devices, the language of messages."""

FOLDERS = {
    "CUDA_CACHE_PATH": "cache/cuda",
    "CUPY_CACHE_DIR": "cache/cupy",
    "HOME": "home",
    "MPLCONFIGDIR": "home",
    "NUMBA_CACHE_DIR": "cache/numba",
    "TMPDIR": "tmp",
    "TORCHINDUCTOR_CACHE_DIR": "cache/inductor",
    "TORCH_EXTENSIONS_DIR": "cache/extensions",
    "TORCH_HOME": "cache/torch",
    "TRITON_CACHE_DIR": "cache/triton",
    "TRITON_HOME": "home",
    "XDG_CACHE_HOME": "cache",
    "XDG_CONFIG_HOME": "home",
    "XDG_DATA_HOME": "home",
}
"""Folders in the scratch folder, by variable. All caches start empty and are removed after the run."""

CAPTURES = "captures"
SHARED = "shm"
"""The submission's /dev/shm, where this process may mount it."""
WORK = "work"
"""The working directory."""

_SET = {
    "GIT_CONFIG_NOSYSTEM": "1",  # git ends if it may not read /etc/gitconfig
    "LOGNAME": "quarantine",  # torch reads it if the uid has no entry in passwd
    "USER": "quarantine",
    # The pool of torch keeps semaphores in /dev/shm, which submissions have on some machines only (shared_memory.py).
    "TORCHINDUCTOR_COMPILE_THREADS": "1",
}

_OF_THE_SHIM = frozenset(
    {
        "LD_PRELOAD",
        "NEUTRINO_CAPTURE",
        "NEUTRINO_DRIVER",
        "NEUTRINO_HIP_DRIVER",
        "NEUTRINO_HIP_SHIM",
        "NEUTRINO_NONCE",
        "NEUTRINO_NVRTC",
        "NEUTRINO_REGION",
        "NEUTRINO_RING",
        "NEUTRINO_SHIM",
        "TRITON_LIBCUDA_PATH",
    }
)
_ALLOWED = KEPT | frozenset(FOLDERS) | frozenset(_SET) | _OF_THE_SHIM


def quarantine_environment(base: Mapping[str, str], scratch: Path, driver: Path) -> dict[str, str]:
    """The variables of a quarantine, without the shim's, which audit.supervise adds.

    The CPU driver comes with a CUDA runtime, which must be found before a toolkit's, because that needs a GPU driver.
    """
    environment = {name: value for name, value in base.items() if name in KEPT}
    environment["PATH"] = os.pathsep.join(
        [str(Path(sys.executable).parent), environment.get("PATH", os.defpath)]
    )
    if driver.parent.resolve() == SIM.parent.resolve():
        libraries = [str(driver.parent.resolve()), environment.get("LD_LIBRARY_PATH", "")]
        environment["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, libraries))
    return {**environment, **{name: str(scratch / folder) for name, folder in FOLDERS.items()}, **_SET}


def make_folders(scratch: Path) -> None:
    """Make the scratch folder's subfolders. Call it as the user of the quarantine. Raises OSError."""
    for folder in sorted({*FOLDERS.values(), CAPTURES, WORK}):
        (scratch / folder).mkdir(mode=0o700, parents=True, exist_ok=True)


def check(environment: Mapping[str, str], allowed: Collection[str] = ()) -> str:
    """The feature "environment": "on", or the reason why it is off. `allowed`: further names."""
    foreign = sorted(set(environment) - _ALLOWED - set(allowed))
    return "on" if not foreign else f"unexpected variables: {', '.join(foreign[:5])}"
