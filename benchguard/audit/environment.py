"""The environment that puts a program under the shim (docs/architecture.md)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..shim.interposer import Interposer
from ..shim.surface import Api
from ..toolchain.paths import SIM_NVRTC_SONAME
from .selection import Selection
from .session import Session

VARIABLES: dict[Api, tuple[str, str]] = {
    "cuda": ("NEUTRINO_SHIM", "NEUTRINO_DRIVER"),
    "hip": ("NEUTRINO_HIP_SHIM", "NEUTRINO_HIP_DRIVER"),
}
"""Variables with the paths of the shim and of the real driver."""

SUPERVISORS = ("NEUTRINO_RING", "NEUTRINO_NONCE", "NEUTRINO_SERVE", "NEUTRINO_POLICY")
"""Variables that lead a program to its supervisor."""


@dataclass(frozen=True)
class Recorded:
    """The region of the command to capture, and the absolute path of an existing folder for its raw captures."""

    folder: Path
    selection: Selection


def shim_environment(interposer: Interposer, callers: str | None, base: Mapping[str, str]) -> dict[str, str]:
    """`base` with the shim, and without the way to a supervisor.

    Variables of an outer session are removed, or its shim, perhaps of another vendor, would write to the wrong session.
    """
    outer = {base.get(shim) for shim, _ in VARIABLES.values()}
    preloads = [str(interposer.preload), str(interposer.shim)]
    preloads += [word for word in re.split("[: ]+", base.get("LD_PRELOAD", "")) if word and word not in outer]
    replaced = {"NEUTRINO_FILTER", *SUPERVISORS, *(name for names in VARIABLES.values() for name in names)}
    environment = {name: value for name, value in base.items() if name not in replaced}
    environment["LD_PRELOAD"] = ":".join(dict.fromkeys(preloads))
    api = interposer.surface.api
    environment.update(zip(VARIABLES[api], (str(interposer.shim), str(interposer.driver)), strict=True))
    for name, value in interposer.environment.items():
        environment.setdefault(name, value)
    if callers:
        environment["NEUTRINO_FILTER"] = callers
    if api == "cuda" and not interposer.on_loader_path:
        # Triton links a helper against libcuda.so.1, which it searches in ldconfig's list unless this variable is set.
        environment.setdefault("TRITON_LIBCUDA_PATH", str(interposer.shim.parent))
    return environment


def command_environment(
    interposer: Interposer,
    session: Session,
    callers: str | None,
    base: Mapping[str, str],
    recorded: Recorded | None = None,
) -> dict[str, str]:
    """The environment of a wrapper's command."""
    environment = {**shim_environment(interposer, callers, base), **session.environment()}
    if interposer.runtime_folder is not None:
        folders = [str(interposer.runtime_folder), *base.get("LD_LIBRARY_PATH", "").split(os.pathsep)]
        environment["LD_LIBRARY_PATH"] = os.pathsep.join(dict.fromkeys(filter(None, folders)))
        preloads = [*environment["LD_PRELOAD"].split(":"), str(interposer.runtime_folder / SIM_NVRTC_SONAME)]
        environment["LD_PRELOAD"] = ":".join(dict.fromkeys(preloads))
    if recorded is not None:
        environment.update(NEUTRINO_CAPTURE=str(recorded.folder), NEUTRINO_REGION=recorded.selection.variable)
    return environment
