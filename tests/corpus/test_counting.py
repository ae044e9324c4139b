"""The engine count equals the CPU driver's own counters, class by class, on the corpus."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.corpus.families import FAMILIES

HERE = Path(__file__).parent


@pytest.mark.parametrize(
    "family",
    [pytest.param(family, marks=() if family == "histogram" else pytest.mark.full) for family in FAMILIES],
)
def test_counted_instructions_equal_the_drivers_counters(family: str, tmp_path: Path) -> None:
    environment = {**os.environ, "SIM_COUNTS": str(tmp_path / "counts"), "SIM_KERNEL_TIMEOUT_MS": "20000"}
    done = subprocess.run(
        [sys.executable, str(HERE / "counting.py"), family],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=250,
    )
    assert done.returncode == 0, done.stdout + done.stderr
