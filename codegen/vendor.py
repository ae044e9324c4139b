"""The differences between the two vendors' headers: CUDA's driver API and HIP."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_SEMANTICS = Path(__file__).resolve().parent / "semantics"
INTERNAL = "__CUDA_API_VERSION_INTERNAL"
"""Makes cuda.h declare every real function under its real name, old ABIs and per-thread forms included."""


@dataclass(frozen=True)
class Vendor:
    name: str
    """Its name in captures and surface.json."""
    title: str
    header: str
    """The file that declares the functions."""
    includes: tuple[str, ...]
    """Headers to read, `header` first."""
    optional: tuple[str, ...]
    """Headers to read if they exist."""
    extra: Path | None
    """Prototypes of exports that no header of the vendor's declares."""
    defines: tuple[str, ...]
    """Macros to define before including the headers."""
    every_form: tuple[str, ...]
    """Further macros that keep every function under its own name."""
    function: re.Pattern[str]
    status_name: re.Pattern[str]
    """Names of functions that return a status, as far as is known of those that no header declares."""
    never_refused: tuple[str, ...]
    """Functions with a status that only describe: a program whose calls are refused needs them for its message."""
    convention: str
    """Stands between return type and name."""
    soname: str
    semantics: Path
    release_units: tuple[int, int]
    """The value of a major and of a minor release in the header's version number."""

    def include_lines(self) -> list[str]:
        """The lines of a C file that declare the vendor's functions; what `extra` has is not among them."""
        lines = [f"#include <{self.header}>"]
        for name in self.optional:
            lines += [f"#if __has_include(<{name}>)", f"#include <{name}>", "#endif"]
        return lines

    def release(self, version: int) -> str:
        """13050 of CUDA -> "13.5"."""
        major, minor = self.release_units
        return f"{version // major}.{version % major // minor}"


CUDA = Vendor(
    name="cuda",
    title="CUDA",
    header="cuda.h",
    includes=("cuda.h", "cudaTypedefs.h"),
    optional=(),
    extra=None,
    defines=(),
    every_form=(INTERNAL,),
    function=re.compile(r"cu[A-Z]\w*"),
    status_name=re.compile(r"cu[A-Z]"),
    never_refused=("cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString"),
    convention="CUDAAPI ",
    soname="libcuda.so.1",
    semantics=_SEMANTICS / "cuda.toml",
    release_units=(1000, 10),
)

HIP = Vendor(
    name="hip",
    title="HIP",
    header="hip/hip_runtime_api.h",
    includes=("hip/hip_runtime_api.h",),
    optional=("hip/hiprtc.h",),  # a library of its own from ROCm 7 on
    extra=_SEMANTICS / "hip_extra.h",
    defines=(
        "__HIP_PLATFORM_AMD__",
        "__HIP_PLATFORM_HCC__",
    ),  # the second is what 5.x's own hipcc sets besides
    every_form=(),
    function=re.compile(r"(__)?hip(rtc)?[A-Z]\w*|_Z\w*hip\w*"),
    status_name=re.compile(r"hip[A-Z]"),
    never_refused=(
        "hipDriverGetVersion",
        "hipDrvGetErrorName",
        "hipDrvGetErrorString",
        "hipRuntimeGetVersion",
    ),
    convention="",
    soname="libamdhip64.so.5",
    semantics=_SEMANTICS / "hip.toml",
    release_units=(10_000_000, 100_000),
)
