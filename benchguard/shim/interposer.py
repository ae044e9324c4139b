"""Find the driver that --driver names, and everything that is needed to run a command under its shim."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..errors import BenchguardError
from ..toolchain.paths import PRELOAD, SIM_RUNTIME
from .build import Shim, shim_for
from .driver import Driver, discover
from .nvrtc import hiprtc_environment
from .surface import Surface, read_surface
from .vendors import Api

_ON_LOADER_PATH = ("ld.so.cache", "LD_LIBRARY_PATH")


@dataclass(frozen=True)
class Interposer:
    """The shim of a driver, and the library that redirects programs to it."""

    driver: Path
    shim: Path
    surface: Surface
    preload: Path
    facts: dict[str, object]
    on_loader_path: bool
    """Whether the loader finds this driver by itself, as tools that ask ldconfig do."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Default values of variables that this driver needs."""
    runtime_folder: Path | None = None
    """Folder that the command's loader searches first: NVIDIA's CUDA runtime cannot run on the CPU driver, and the
    folder has one that can, and a library to preload for programs linked with NVRTC."""
    is_sim: bool = False


def interpose(driver: Driver, shim: Shim) -> Interposer:
    """Raises BenchguardError."""
    if not PRELOAD.is_file():
        raise BenchguardError(f"{PRELOAD} is not built; run `python build.py build`")
    surface = read_surface(shim.surface_path)
    facts: dict[str, object] = {
        "path": str(shim.path),
        "header": surface.header.origin,
        "recorded": surface.count("recorded"),
        "passed": surface.count("pass"),
        "untyped": surface.count("untyped"),
        "generic": shim.gap is not None,
        "missing": list(shim.gap.missing) if shim.gap is not None else [],
    }
    found_by_loader = driver.origin in _ON_LOADER_PATH
    variables = hiprtc_environment(driver.path)
    runtime = SIM_RUNTIME.parent if driver.is_sim and driver.api == "cuda" else None
    return Interposer(
        driver.path, shim.path, surface, PRELOAD, facts, found_by_loader, variables, runtime, driver.is_sim
    )


def interposer_for(spec: str, api: Api | None = None) -> tuple[Interposer, Driver, Shim]:
    """The interposer for the value of --driver, or for one vendor's driver. Raises BenchguardError, ShimError."""
    driver = discover(spec, api=api)
    shim = shim_for(driver)
    return interpose(driver, shim), driver, shim


def copy_to(folder: Path, interposer: Interposer) -> Interposer:
    """The same interposer with its two libraries copied to a folder, for programs that cannot read ours.

    Raises BenchguardError.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        copies = []
        for library in (interposer.shim, interposer.preload):
            temporary = folder / f".{library.name}.new"
            shutil.copyfile(library, temporary)
            temporary.chmod(0o755)
            copies.append(temporary.rename(folder / library.name))  # a running program keeps the old one
    except OSError as error:
        raise BenchguardError(f"cannot copy to {folder}: {error.strerror}; name another folder") from error
    return replace(interposer, shim=copies[0], preload=copies[1])


def gap_text(shim: Shim) -> str | None:
    """The limits of a generic shim for this driver, in one line; None for a shim generated for the driver."""
    if shim.gap is None:
        return None
    return (
        f"the generic shim is used ({shim.gap.reason}): {len(shim.gap.missing)} of the driver's exports are not "
        f"forwarded, {len(shim.gap.extra)} that it lacks answer not-supported"
    )
