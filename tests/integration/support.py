"""Shared by the integration tests: the result of a run, and the CPU driver's own count of launches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchguard.capture import Capture
from benchguard.capture.layout import OperationKind

PROGRAMS = Path(__file__).parent / "programs"

Compiler = Callable[..., Path]


DRIVER_PROGRAM = """
import ctypes, sys
import benchguard

cuda = ctypes.CDLL("libcuda.so.1")


def check(result):
    assert result == 0, result


check(cuda.cuInit(0))
context, memory = ctypes.c_void_p(), ctypes.c_uint64()
check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
check(cuda.cuCtxSetCurrent(context))
check(cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(8192)))
"""
"""The beginning of a program that calls the driver by ctypes: a context, and `memory` of 8192 bytes."""


@dataclass(frozen=True)
class Observed:
    """One run: what the program said, what the log holds, and what the driver itself counted."""

    status: int
    stdout: str
    stderr: str
    log: Path
    lines: list[dict[str, Any]]
    driver_launches: Counter[tuple[str, tuple[int, ...], tuple[int, ...]]]

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["kind"] == kind]

    @property
    def launches(self) -> Counter[tuple[str, tuple[int, ...], tuple[int, ...]]]:
        """Launches in the log that the driver accepted, by name and shape."""
        return Counter(
            (str(line["name"]), tuple(line["grid"]), tuple(line["block"]))
            for line in self.of_kind("launch")
            if line["result"] == 0
        )


Observe = Callable[..., Observed]


def read_driver_launches(path: Path) -> Counter[tuple[str, tuple[int, ...], tuple[int, ...]]]:
    """The CPU driver's own log: "pid kernel grid block shared" a line (sim/README.md)."""
    counts: Counter[tuple[str, tuple[int, ...], tuple[int, ...]]] = Counter()
    for line in path.read_text().splitlines() if path.exists() else []:
        _, name, grid, block, _ = line.split()
        counts[name, tuple(map(int, grid.split(","))), tuple(map(int, block.split(",")))] += 1
    return counts


@dataclass(frozen=True)
class Recorded:
    """One run of `record`."""

    folder: Path
    status: int
    stdout: str
    stderr: str

    @property
    def said(self) -> list[str]:
        """But for what is true of every run."""
        lines = self.stderr.splitlines()
        return [line for line in lines if "built the shim" not in line]

    @property
    def captures(self) -> list[str]:
        return sorted(path.name for path in self.folder.glob("*.ncap"))

    def kinds(self, name: str = "x.ncap") -> list[OperationKind]:
        with Capture.open(self.folder / name) as capture:
            return [operation.kind for operation in capture.operations]

    @property
    def unended(self) -> Path:
        """The one raw capture that was kept."""
        (path,) = self.folder.glob(".x.ncap.*/*.nrec")
        return path


Record = Callable[..., Recorded]
