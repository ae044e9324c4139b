"""The vendors' drivers: names, exports and places of their libraries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchguard.codegen import vendor

from ..toolchain.paths import HIP_SIM, HIP_SONAME, SIM, SONAME

Api = Literal["cuda", "hip"]

_SYSTEM_FOLDERS = (
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
)
_CUDA_FOLDERS = (
    "/usr/local/nvidia/lib64",  # where container runtimes mount it
    "/usr/local/nvidia/lib",
    "/usr/lib/wsl/lib",
)
_ROCM = Path("/opt")
"""Holds rocm, a link to the chosen one, and rocm-<version> for each that is installed."""


@dataclass(frozen=True)
class Vendor:
    """`sonames` as programs ask the loader for them, the newest first; every driver exports `probe`."""

    api: Api
    headers: vendor.Vendor
    """Codegen's data for the vendor."""
    probe: str
    sonames: tuple[str, ...]
    library: str
    """The driver's name in messages to users."""
    sim: Path
    """The packaged CPU driver with this vendor's functions."""
    sim_spec: str
    """The value of `--driver` that names this CPU driver."""
    device_nodes: tuple[str, ...] = ()
    """Device files, one of which exists on each machine with such a GPU; empty if no such check is known."""

    @property
    def name(self) -> str:
        return self.headers.title

    def shim_name(self, soname: str) -> str:
        """The shim's file name: the driver's SONAME, if that is one of this vendor's drivers."""
        stem = self.library.partition(".so")[0]
        return soname if re.fullmatch(rf"{re.escape(stem)}\.so(\.[0-9]+)*", soname) else self.sonames[-1]

    def has_device(self) -> bool:
        """Whether this machine may have a GPU of this vendor."""
        return not self.device_nodes or any(Path(node).exists() for node in self.device_nodes)

    def folders(self, environment: Mapping[str, str]) -> Iterator[Path]:
        """Folders with drivers that the loader does not search by itself. The loader's own are searched first."""
        yield from map(Path, _SYSTEM_FOLDERS)
        if self.api == "cuda":
            yield from map(Path, _CUDA_FOLDERS)
            return
        if environment.get("ROCM_PATH"):
            yield Path(environment["ROCM_PATH"]) / "lib"
        yield _ROCM / "rocm" / "lib"
        for folder in sorted(_ROCM.glob("rocm-*"), key=_version, reverse=True):
            yield folder / "lib"


def _version(folder: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", folder.name)]


CUDA = Vendor("cuda", vendor.CUDA, "cuInit", (SONAME,), SONAME, SIM, "sim")
HIP = Vendor(
    "hip",
    vendor.HIP,
    "hipInit",
    ("libamdhip64.so.7", "libamdhip64.so.6", HIP_SONAME),
    "libamdhip64.so",
    HIP_SIM,
    "hip-sim",
    ("/dev/kfd", "/dev/dxg"),  # Linux's amdgpu driver; Windows' driver under WSL
)
VENDORS = (CUDA, HIP)
"""In the order in which a machine's driver is looked for."""
