"""Tell a machine without a compiler from a submission that does not compile.

The submission's process says why it failed. It may lie, so this process looks for the compiler itself. Only submissions
that need a compiler can lack one: Python runs on every machine, and would claim the lack of a compiler there.
"""

from __future__ import annotations

import subprocess

from ..ipc.folders import temporary_folder
from .contract import Broke, Language
from .runner.compilers import NO_HOST_COMPILER, NO_NVCC, NO_NVRTC, compiler_environment, find_nvcc, find_nvrtc


def lack_of(broke: Broke, language: Language, seconds: float) -> str:
    """The compiler that this machine lacks, if a submission failed for that reason; else empty.

    The search takes up to `seconds`. A search that cannot tell finds no lack.
    """
    if language != "cuda":
        return ""
    if broke.lacks == NO_HOST_COMPILER:
        return NO_HOST_COMPILER if _rejects_empty_file(seconds) else ""
    if broke.lacks == NO_NVCC:
        return "" if find_nvcc() else NO_NVCC
    if broke.lacks == NO_NVRTC:
        return "" if find_nvcc() or find_nvrtc() else NO_NVRTC
    return ""


def _rejects_empty_file(seconds: float) -> bool:
    nvcc = find_nvcc()
    if nvcc is None:
        return True
    try:
        with temporary_folder("neutrino-compiler-") as folder:
            source = folder / "empty.cu"
            source.touch()
            done = subprocess.run(
                [nvcc, "--ptx", source, "-o", source.with_suffix(".ptx")],
                env=compiler_environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds,
                check=False,
            )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode != 0
