"""Run a program on the GPU with and without the shim and list differences and missing log entries."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from benchguard import LogError, verify_log
from benchguard.audit.summary import Summary, summarise
from benchguard.shim.driver import discover
from benchguard.toolchain.errors import ShimError
from tests.device.cases import ROOT, GpuProgram

TIMEOUT = 240
"""Time limit of a run in seconds. The first run on a machine compiles the shim and fills kernel caches."""


def no_gpu() -> str | None:
    """The reason for skipping; None if this machine has a GPU."""
    try:
        driver = discover("auto", api="cuda")
    except ShimError as error:
        return str(error)
    if driver.is_sim:
        return "no GPU driver found on this machine"
    library = ctypes.CDLL(str(driver.path))
    count = ctypes.c_int()
    status = library.cuInit(0) or library.cuDeviceGetCount(ctypes.byref(count))
    if status != 0 or count.value == 0:
        return f"{driver.path} finds no GPU (status {status})"
    return None


@dataclass
class Comparison:
    """The result of one program. `problems` is empty on success."""

    program: GpuProgram
    plain: str = ""
    cannot_run: str | None = None
    tables: str = ""
    summary: Summary | None = None
    problems: list[str] = field(default_factory=list)


def compare(program: GpuProgram, folder: Path) -> Comparison:
    """Run the program twice; logs and outputs are written to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    comparison = Comparison(program)
    command = [sys.executable, str(program.script), *program.arguments]
    if program.script.parent.name == "grayscale":
        command += ["--out", str(folder / "picture")]
    plain = _run(command)
    if plain.returncode != 0:
        comparison.cannot_run = f"does not run here without the shim either: {_last_line(plain)}"
        return comparison
    log = folder / f"{program.name}.audit.jsonl"
    observed = _run([sys.executable, "-m", "benchguard", "--log", str(log), "--force", "--", *command])
    comparison.plain, comparison.tables = plain.stdout, observed.stderr
    if observed.returncode != 0:
        comparison.problems.append(f"ends with {observed.returncode} under the shim: {_last_line(observed)}")
    if observed.stdout != plain.stdout:
        unsteady = (
            " and something else again when run once more" if _run(command).stdout != plain.stdout else ""
        )
        comparison.problems.append(
            f"prints {observed.stdout!r} under the shim, {plain.stdout!r} without{unsteady}"
        )
    try:
        verify_log(log)
        comparison.summary = summarise(log)
    except LogError as error:
        comparison.problems.append(str(error))
    else:
        comparison.problems += judge(program, comparison.summary)
    return comparison


def judge(program: GpuProgram, summary: Summary) -> list[str]:
    """Entries that are missing from the log."""
    problems = []
    launches = summary.launches + summary.graph_launches
    if launches < program.least_launches:
        problems.append(f"{launches} launches in the log, at least {program.least_launches} were made")
    if summary.graph_launches < program.replays:
        problems.append(f"{summary.graph_launches} launches by graphs, at least {program.replays} were made")
    if not summary.complete:
        problems.append(f"the log is incomplete: {summary.dropped} records dropped")
    if summary.failed_launches:
        problems.append(f"the driver refused {summary.failed_launches} launches")
    names = [kernel.name for kernel in summary.kernels]
    problems += [
        f"no kernel {part} in the log" for part in program.kernels if not any(part in n for n in names)
    ]
    if any(kernel.image is None for kernel in summary.kernels):
        problems.append("a kernel of no known image was launched")
    return problems


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path}
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT, check=False, env=environment
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"took more than {TIMEOUT} s")


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    return (done.stderr.strip().splitlines() or ["no message on standard error"])[-1]
