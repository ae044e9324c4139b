"""Run the CPU driver in a separate process: for settings that cuInit reads, and effects that cannot be undone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
_PRELUDE = """
import ctypes, json, sys
from tests.sim.conftest import Driver, PTX_HEAD, SAXPY, STORE
driver = Driver(ctypes.CDLL({path!r}))
results = []
def answer(value): results.append(value)
def start():
    driver("cuInit", 0)
    return driver.handle("cuCtxCreate_v4", None, 0, 0)
"""
_END = "\nsys.stdout.flush()\nprint(json.dumps(results))\n"


@dataclass(frozen=True)
class Outcome:
    answers: list[Any]
    output: str
    errors: str


def isolated(sim_path: Path, code: str, **environment: str) -> Outcome:
    """Run `code` with `driver` in a new process. Returns the values passed to answer(), and the terminal output."""
    result = subprocess.run(
        [sys.executable, "-c", _PRELUDE.format(path=str(sim_path)) + code + _END],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=ROOT,
        env={
            **{name: value for name, value in os.environ.items() if not name.startswith("SIM_")},
            "SIM_MEMORY_CHECK": "exact",
            **environment,
        },
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    *output, last = result.stdout.splitlines()
    return Outcome(json.loads(last), "\n".join(output), result.stderr)
