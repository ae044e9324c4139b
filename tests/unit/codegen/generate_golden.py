"""Generate from golden/include into a folder. golden/expected is refreshed by

    python tests/unit/codegen/generate_golden.py tests/unit/codegen/golden/expected

A reviewer reads the difference. The driver has no cuDriverGetVersion, and one function of its own.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchguard.codegen.emit import emit_shim
from benchguard.codegen.emit.sim import emit_sim
from benchguard.codegen.exports import DriverExports
from benchguard.codegen.generate import shim_surface, write_files
from benchguard.codegen.headers import headers_in

GOLDEN = Path(__file__).parent / "golden"
NAMES = (
    "cuCtxSynchronize", "cuInit", "cuLaunchHostFunc", "cuLaunchKernel", "cuLaunchKernel_ptsz", "cuMemAlloc",
    "cuMemAlloc_v2", "cuMemOpen", "cuModuleLoadData", "cuNewThing", "cuParamSetf",
)  # fmt: skip


def generate(folder: Path) -> None:
    headers = headers_in(GOLDEN / "include", "the golden header")
    surface = shim_surface(
        headers, DriverExports(NAMES, "libcuda.so.1", "0123abcd"), GOLDEN / "semantics.toml"
    )
    write_files(emit_shim(surface), folder / "shim")
    write_files(emit_sim(surface.api), folder / "sim")


if __name__ == "__main__":
    generate(Path(sys.argv[1]))
