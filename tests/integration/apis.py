"""The two vendors' APIs on the CPU driver: one test source, and what differs between them.

The programs are CUDA programs. For HIP they are linked with libcuda-over-hip.so, which says each of their calls in HIP
(hook/hip/driver): what the shim sees, records and refuses are HIP's calls, of a program that knows nothing of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchguard.shim.interposer import interposer_for
from tests.integration.support import PROGRAMS

_SUFFIX = re.compile(r"_v\d$")


@dataclass(frozen=True)
class Api:
    """`driver` is what --driver is given; `folder` and `library` are what a program is linked with."""

    name: str
    driver: str
    folder: Path
    library: str
    soname: str
    sources: tuple[Path, ...] = ()
    """Compiled into a program beside its own."""

    def links(self, *more: str) -> tuple[str, ...]:
        return (f"-L{self.folder}", f"-l:{self.library}", f"-Wl,-rpath,{self.folder}", *more)

    def call(self, name: str) -> str:
        """This API's name of a CUDA driver function, as logs and captures have it."""
        if self.name == "cuda":
            return name
        plain = _SUFFIX.sub("", name)
        return HIP_NAMES.get(plain, plain.replace("cu", "hip", 1))


HIP_NAMES = {
    "cuMemAlloc": "hipMalloc",
    "cuMemFree": "hipFree",
    "cuLaunchKernel": "hipModuleLaunchKernel",
    "cuCtxSynchronize": "hipDeviceSynchronize",
    "cuMemsetD2D8": "hipMemset2D",
    "cuMemcpy2D": "hipMemcpy3D",
}
"""Where HIP's name, or the call that hook/hip/driver takes for it, is not CUDA's with another beginning."""


def api_of(name: str, native: Path) -> Api:
    if name == "cuda":
        return Api("cuda", "sim", native / "sim", "libcuda.so.1", "libcuda.so.1")
    folder = native / "hip"
    if not (folder / "libcuda-over-hip.so").is_file():
        pytest.skip(
            f"{folder} is not built: no hip_runtime_api.h; `python build.py test --all` fetches Debian's"
        )
    interposer_for("hip-sim")  # its shim is built here, once, and not within the time that a program has
    return Api("hip", "hip-sim", folder, "libcuda-over-hip.so", "libamdhip64.so.5", (PROGRAMS / "lacking.c",))


both_apis = pytest.mark.parametrize("api", ["cuda", "hip"], indirect=True)
"""For a test of what does not depend on the vendor; others are CUDA's alone."""
