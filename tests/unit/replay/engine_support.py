"""Run a plan in engine_child.py: on the CPU driver, or on the one that NEUTRINO_TEST_DRIVER names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.conftest import NATIVE, ROOT

LIBRARY = os.environ.get("NEUTRINO_TEST_REPLAY") or str(NATIVE / "replay" / "libneutrino_replay.so")
SANITIZER = (
    {"LD_PRELOAD": os.environ["NEUTRINO_TEST_PRELOAD"]} if "NEUTRINO_TEST_PRELOAD" in os.environ else {}
)
SIM = str(NATIVE / "sim" / "libcuda.so.1")
DRIVER = os.environ.get("NEUTRINO_TEST_DRIVER") or SIM
COLD = {"none": 0, "flush": 1, "remap": 2, "rotate": 3, "memset": 4}
BAD_CAPTURE, NO_DRIVER, CANNOT, FAILED, TIMEOUT, OURS, OTHER_READ = range(1, 8)
NOTHING = 0xFFFFFFFF

on_sim = DRIVER == SIM


def replayed(
    capture: Path,
    *steps: list[Any],
    driver: str = DRIVER,
    environment: dict[str, str] | None = None,
    library: str = LIBRARY,
    cold: str = "none",
    **options: Any,
) -> list[Any]:
    """The result of each step as JSON, beginning with the preparation; an error is {"status", "text"}."""
    plan = {
        "capture": str(capture),
        "library": library,
        "driver": driver,
        "options": {"cold": COLD[cold], **options},
        "steps": [["prepare"], *steps],
    }
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    result = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("engine_child.py"))],
        input=json.dumps(plan),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, **(environment or {}), "PYTHONPATH": path},
    )
    assert result.returncode == 0, result.stderr[-4000:]
    results: list[Any] = json.loads(result.stdout)
    return results


def assert_exact(found: Any) -> None:
    assert found == [0, []]
