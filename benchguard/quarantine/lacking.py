"""Tell a machine without a compiler from a submission that does not compile.

The submission's process says why it failed. It may lie, so this process compiles an empty file itself.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from .contract import Broke
from .runner.compilers import NO_HOST_COMPILER, NO_NVCC, NO_NVRTC, compiler_environment, find_nvcc, find_nvrtc

_SECONDS = 120.0


def lack_of(broke: Broke) -> str:
    """The compiler that this machine lacks, if a submission failed for that reason; else empty."""
    if NO_HOST_COMPILER in broke.text:
        return "" if _compiles_empty_file() else NO_HOST_COMPILER
    if NO_NVCC in broke.text:
        return "" if find_nvcc() else NO_NVCC
    if NO_NVRTC in broke.text:
        return "" if find_nvcc() or find_nvrtc() else NO_NVRTC
    return ""


def _compiles_empty_file() -> bool:
    nvcc = find_nvcc()
    if nvcc is None:
        return False
    with tempfile.TemporaryDirectory(prefix="neutrino-compiler-") as folder:
        source = Path(folder, "empty.cu")
        source.touch()
        try:
            return (
                subprocess.run(
                    [nvcc, "--ptx", source, "-o", source.with_suffix(".ptx")],
                    env=compiler_environment(),
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=_SECONDS,
                    check=False,
                ).returncode
                == 0
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
