"""Unmodified programs on the CPU driver: cuda.bindings, cuda.core and numba-cuda.

They need packages that the project itself does not; sim/README.md says which. NEUTRINO_CLIENTS names a Python
that has them; without it these tests are skipped.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

PYTHON = os.environ.get("NEUTRINO_CLIENTS")
FOLDER = Path(__file__).parent

pytestmark = pytest.mark.skipif(
    not PYTHON, reason="NEUTRINO_CLIENTS names no Python with cuda.core and numba-cuda"
)


@pytest.mark.parametrize(
    ("client", "kernel"), [("cuda_bindings", "saxpy"), ("cuda_core", "saxpy"), ("numba", "_ZN")]
)
def test_client_agrees_with_numpy_after_one_launch(
    client: str, kernel: str, native: Path, tmp_path: Path
) -> None:
    log = tmp_path / "launches"
    environment = {**os.environ, "LD_LIBRARY_PATH": str(native / "sim"), "SIM_LAUNCH_LOG": str(log)}
    done = subprocess.run(
        [str(PYTHON), FOLDER / f"{client}_saxpy.py"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (line,) = log.read_text().splitlines()
    assert line.split()[1].startswith(kernel)
