"""Programs that run on a GPU with and without the shim, and the expected contents of their logs."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).parent / "programs"
GRAYSCALE = ROOT / "examples" / "grayscale" / "submission.py"


@dataclass(frozen=True)
class GpuProgram:
    """`kernels` are parts of kernel names that the log must contain; `replays` is the minimum of graph launches."""

    name: str
    script: Path
    needs: tuple[str, ...]
    kernels: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    replays: int = 0
    least_launches: int = field(default=1)

    def missing(self) -> list[str]:
        """Modules that the program imports and that are not installed."""
        return [module for module in self.needs if not is_installed(module)]


def is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _program(name: str, needs: str, *kernels: str, launches: int = 1, replays: int = 0) -> GpuProgram:
    script = PROGRAMS / f"{name.replace('-', '_')}.py"
    return GpuProgram(name, script, (needs,), kernels, replays=replays, least_launches=launches)


def _grayscale(version: str, needs: tuple[str, ...], *kernels: str) -> GpuProgram:
    return GpuProgram(f"grayscale-{version}", GRAYSCALE, needs, kernels, ("--version", version))


ALL = (
    _program("torch-eager", "torch", "softmax", launches=4),
    _program("torch-graph", "torch", "elementwise", launches=5, replays=5),
    _program("triton-add", "triton", "triton_add"),
    _program("cupy-kernels", "cupy", "cupy_scale", launches=3),
    _program("numba-saxpy", "numba_cuda", "numba_saxpy", launches=2),
    _grayscale("cuda", ("cuda.core", "cuda.bindings"), "grayscale"),
    _grayscale("numba", ("numba_cuda",), "grayscale"),
    _grayscale("torch", ("torch",), "elementwise"),
    _grayscale("triton", ("triton", "torch"), "grayscale"),
)
