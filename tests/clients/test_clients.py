"""Unmodified cuda.bindings, cuda.core and numba-cuda programs on the CPU driver, without the shim and with it.

They need the `examples` extra. NEUTRINO_CLIENTS may name another Python that has it.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchguard.report.summary import summarise
from tests.conftest import ROOT

PYTHON = os.environ.get("NEUTRINO_CLIENTS", sys.executable)
FOLDER = Path(__file__).parent
CLIENTS = {"cuda_bindings": "saxpy", "cuda_core": "saxpy", "numba": "saxpy"}


def installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


pytestmark = pytest.mark.skipif(
    sys.executable == PYTHON and not (installed("cuda.core") and installed("numba_cuda")),
    reason="cuda.core and numba-cuda are not installed: pip install 'neutrino-bench[examples]'",
)


def run(command: list[str], launches: Path, **environment: str) -> list[str]:
    """Run a client to its good end; the kernels that the driver itself counted."""
    done = subprocess.run(
        command,
        env={**os.environ, "SIM_LAUNCH_LOG": str(launches), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.split()[1] for line in launches.read_text().splitlines()]


@pytest.mark.parametrize("client", CLIENTS)
def test_it_agrees_with_numpy_after_one_launch(client: str, native: Path, tmp_path: Path) -> None:
    """The driver alone, found as a program finds it."""
    command = [PYTHON, str(FOLDER / f"{client}_saxpy.py")]
    (kernel,) = run(command, tmp_path / "launches", LD_LIBRARY_PATH=str(native / "sim"))
    assert CLIENTS[client] in kernel


@pytest.mark.parametrize("client", CLIENTS)
def test_the_shim_sees_the_same_launch(client: str, native: Path, tmp_path: Path) -> None:
    assert native.is_dir()
    log = tmp_path / "log"
    program = [PYTHON, str(FOLDER / f"{client}_saxpy.py")]
    command = [sys.executable, "-m", "benchguard", "--driver", "sim", "--log", str(log), "--", *program]
    (kernel,) = run(command, tmp_path / "launches", PYTHONPATH=str(ROOT))
    summary = summarise(log)
    assert summary.complete
    assert (summary.launches, summary.unmapped) == (1, [])
    (row,) = summary.kernels
    assert CLIENTS[client] in row.name and CLIENTS[client] in kernel
    assert row.image is not None
