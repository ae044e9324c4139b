"""Generate from golden/include and golden/hip_include into a folder. golden/expected is refreshed by

    python tests/unit/codegen/generate_golden.py tests/unit/codegen/golden/expected

A reviewer reads the difference. The CUDA driver has no cuDriverGetVersion, and one function of its own; HIP's has
versions, no hipFreeArray, and two of its own: the ABI that macros hide, and one with a C++ name.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from benchguard.codegen.emit import emit_shim
from benchguard.codegen.emit.sim import emit_sim
from benchguard.codegen.exports import DriverExports, Version
from benchguard.codegen.generate import hip_surface, shim_surface, write_files
from benchguard.codegen.headers import headers_in
from benchguard.codegen.hip import HipHeaders, hip_headers_in
from benchguard.codegen.vendor import HIP

GOLDEN = Path(__file__).parent / "golden"
NAMES = (
    "cuCtxSynchronize", "cuInit", "cuLaunchHostFunc", "cuLaunchKernel", "cuLaunchKernel_ptsz", "cuMemAlloc",
    "cuMemAlloc_v2", "cuMemOpen", "cuModuleLoadData", "cuNewThing", "cuParamSetf",
)  # fmt: skip
GGL = "_ZN8hip_impl22hipLaunchKernelGGLImplEmRK4dim3S2_jP12ihipStream_tPPv"
HIP_OLD = (
    "hipMalloc", "hipInit", "hipGetDeviceProperties", "hipGetErrorName", "hipLaunchKernel", "hipMallocHost",
    "hipMemcpyAsync", "hipMemcpyHtoD", GGL, "__hipRegisterFatBinary", "__hipRegisterFunction",
    "__hipUnregisterFatBinary", "_ZN3amd5ThingEv",
)  # fmt: skip
HIP_NEW = ("hipGetDevicePropertiesR0600", "hipLaunchKernel_spt")


def generate(folder: Path) -> None:
    headers = headers_in(GOLDEN / "include", "the golden header")
    surface = shim_surface(
        headers, DriverExports(NAMES, "libcuda.so.1", "0123abcd"), GOLDEN / "semantics.toml"
    )
    write_files(emit_shim(surface), folder / "shim")
    write_files(emit_sim(surface.api), folder / "sim")
    hip = hip_surface(
        golden_hip_headers(),
        headers,
        hip_driver(),
        GOLDEN / "hip_semantics.toml",
        GOLDEN / "semantics.toml",
    )
    write_files(emit_shim(hip), folder / "hip")


def golden_hip_headers() -> HipHeaders:
    found = hip_headers_in(GOLDEN / "hip_include", "the golden HIP header")
    return replace(found, vendor=replace(HIP, extra=GOLDEN / "hip_extra.h"))


def hip_driver() -> DriverExports:
    version_of = [(name, "hip_4.2") for name in HIP_OLD] + [(name, "hip_7.0") for name in HIP_NEW]
    names = tuple(name for name, _ in version_of)
    versions = (Version("hip_4.2", None), Version("hip_7.0", "hip_4.2"))
    return DriverExports(names, "libamdhip64.so.7", "0123abcd", versions, tuple(version_of))


if __name__ == "__main__":
    generate(Path(sys.argv[1]))
