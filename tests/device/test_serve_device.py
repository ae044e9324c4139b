"""Programs on a GPU under `neutrino-bench serve`: at once, with a complete log each; and refused without a service."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchguard.audit.summary import summarise
from tests.device.cases import ALL, GpuProgram
from tests.device.compare import TIMEOUT
from tests.device.test_device import reason_to_skip
from tests.support.service import environment_for, running_service

INITIALISE = "import ctypes, sys; sys.exit(ctypes.CDLL('libcuda.so.1').cuInit(0) == 800)"


@pytest.fixture(autouse=True)
def gpu() -> None:
    reason = reason_to_skip()
    if reason is not None:
        pytest.skip(reason)


def runs_alone(program: GpuProgram) -> bool:
    """Whether the program works without the shim. Installed libraries may need other versions of each other."""
    command = [sys.executable, str(program.script), *program.arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT)
    if done.returncode:
        print(f"left out: {program.name} fails without the shim: {done.stderr.strip().splitlines()[-1:]}")
    return done.returncode == 0


@pytest.mark.timeout(900)
def test_programs_at_once_have_complete_logs(tmp_path: Path) -> None:
    """The kernels of each program are in a log of its own; a program may have more processes and more logs."""
    installed = [each for each in ALL if not each.missing() and each.script.parent.name != "grayscale"]
    programs = [each for each in installed if runs_alone(each)]
    if not programs:
        pytest.skip("torch, triton, cupy and numba_cuda are not installed, or do not start")
    with running_service(tmp_path / "logs", driver="auto") as service:
        environment = environment_for(service.folder, "--require", driver="auto")
        started = [
            subprocess.Popen([sys.executable, str(each.script), *each.arguments], env=environment)
            for each in programs
        ]
        statuses = [each.wait(TIMEOUT) for each in started]
        service.wait_for_programs(0)
        assert service.end() == 0, service.text
    assert statuses == [0] * len(started)
    for program, process in zip(programs, started, strict=True):
        summaries = [summarise(log) for log in service.logs if f"-{process.pid}-" in log.name]
        assert summaries, program.name
        assert all(each.complete for each in summaries)
        kernels = [row.name for each in summaries for row in each.kernels]
        for part in program.kernels:
            assert any(part in kernel for kernel in kernels), (program.name, part)


def test_required_recording_refuses_the_real_driver(tmp_path: Path) -> None:
    """No service listens: cuInit answers CUDA_ERROR_NOT_PERMITTED, and the driver's own functions are not reached."""
    environment = environment_for(tmp_path, "--require", driver="auto")
    ran = subprocess.run(
        [sys.executable, "-c", INITIALISE],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT,
    )
    assert ran.returncode == 1, ran.stderr
    assert "driver calls fail" in ran.stderr
