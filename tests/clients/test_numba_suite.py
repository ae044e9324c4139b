"""A sample of numba-cuda's own tests on the CPU driver, without the shim and with it.

They need the `examples` extra, pytest and filecheck. NEUTRINO_CLIENTS may name another Python that has them.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PYTHON = os.environ.get("NEUTRINO_CLIENTS", sys.executable)
FOLDER = Path(__file__).parent
FEWEST = 190
"""Tests of the sample that must pass: it cannot shrink unseen when numba-cuda renames its own."""

pytestmark = [
    pytest.mark.skipif(
        sys.executable == PYTHON
        and not all(importlib.util.find_spec(name) for name in ("numba_cuda", "filecheck")),
        reason="numba-cuda or filecheck is not installed: pip install 'neutrino-bench[test-full]'",
    ),
    pytest.mark.timeout(900),
]


@pytest.mark.parametrize("how", ["alone", "observed"])
def test_numba_sample_passes(how: str, native: Path) -> None:
    """Observed, the runner also compares the shim's launches with the driver's."""
    assert native.is_dir()
    command = [sys.executable, str(FOLDER / "numba_suite.py"), "--python", PYTHON]
    command += ["--list", str(FOLDER / "numba_sample.txt"), *(["--shim"] if how == "observed" else [])]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=800)
    assert result.returncode == 0, result.stdout + result.stderr
    passed, failed = map(int, re.findall(r"(\d+) passed, (\d+) failed", result.stdout)[0])
    assert failed == 0
    assert passed >= FEWEST
    if how == "observed":
        assert re.search(r"the shim saw [1-9]\d* launches", result.stdout)
