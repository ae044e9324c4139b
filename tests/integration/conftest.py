"""Programs run under `neutrino-bench` on the CPU driver, whose own count of launches is the oracle."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

PROGRAMS = Path(__file__).parent / "programs"

Compiler = Callable[..., Path]


@dataclass(frozen=True)
class Observed:
    """One run: what the program said, what the log holds, and what the driver itself counted."""

    status: int
    stdout: str
    stderr: str
    log: Path
    lines: list[dict[str, object]]
    driver_launches: Counter[tuple[str, tuple[int, ...], tuple[int, ...]]]

    def of_kind(self, kind: str) -> list[dict[str, object]]:
        return [line for line in self.lines if line["kind"] == kind]

    @property
    def launches(self) -> Counter[tuple[str, tuple[int, ...], tuple[int, ...]]]:
        """Launches in the log that the driver accepted, by name and shape."""
        return Counter(
            (str(line["name"]), tuple(line["grid"]), tuple(line["block"]))  # type: ignore[arg-type]
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


@pytest.fixture
@pytest.mark.usefixtures("native")
def observe(tmp_path: Path) -> Observe:
    """Run a command under neutrino-bench on the CPU driver and read what it left."""

    def run(command: Sequence[str | Path], *options: str, driver: str = "sim", timeout: float = 60,
            environment: dict[str, str] | None = None) -> Observed:
        log, launches = tmp_path / "run.audit.jsonl", tmp_path / "launches"
        launches.unlink(missing_ok=True)
        log.unlink(missing_ok=True)
        arguments = [sys.executable, "-m", "benchguard", "--driver", driver, "--log", str(log), *options, "--"]
        done = subprocess.run(
            [*arguments, *map(str, command)],
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            env={**os.environ, "SIM_LAUNCH_LOG": str(launches), **(environment or {})},
        )
        lines = [msgspec.json.decode(line) for line in log.read_bytes().splitlines()] if log.exists() else []
        return Observed(done.returncode, done.stdout, done.stderr, log, lines, read_driver_launches(launches))

    return run


@pytest.fixture
def program(compile_c: Compiler, native: Path) -> Callable[[str], Path]:
    """A program of programs/, linked to libcuda.so.1 as any CUDA program is."""
    sim = native / "sim"

    def build(name: str) -> Path:
        links = (f"-L{sim}", "-l:libcuda.so.1", f"-Wl,-rpath,{sim}")
        return compile_c(name, PROGRAMS / f"{name}.c", links=links)

    return build
