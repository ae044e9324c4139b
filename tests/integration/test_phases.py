"""Phases of a benchmark, as a program marks them and the audit log shows them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import benchguard
from tests.integration.apis import both_apis
from tests.integration.support import Observe

PROGRAM = """
import ctypes, benchguard
assert benchguard.phase("setup").is_marked
with benchguard.phase("timing", "case 3"):
    pass
shim = ctypes.CDLL(None)
assert shim.neutrino_phase(b"timings", None) == -2
assert shim.neutrino_phase(None, None) == -2
"""


@pytest.mark.quick
@both_apis
def test_phase_of_observed_program_is_in_the_log(observe: Observe) -> None:
    observed = observe([sys.executable, "-c", PROGRAM])
    assert observed.status == 0, observed.stderr
    marks = observed.of_kind("phase")
    assert [(mark["phase"], mark["label"]) for mark in marks] == [
        ("setup", ""),
        ("timing", "case 3"),
        ("setup", ""),
    ]
    assert {mark["source"] for mark in marks} == {"program"}
    assert all("ffi" in mark["origin"] or "ctypes" in mark["origin"] for mark in marks)
    assert [mark["time_ns"] for mark in marks] == sorted(mark["time_ns"] for mark in marks)


@pytest.mark.quick
def test_phase_without_supervisor_is_not_marked() -> None:
    with benchguard.phase("timing") as entered:
        assert not entered.is_marked


@pytest.mark.quick
def test_phase_of_unknown_name_is_refused() -> None:
    with pytest.raises(benchguard.UsageError, match="phase 'warmup' is invalid; give before, setup, warm-up"):
        benchguard.phase("warmup")  # type: ignore[arg-type]


@pytest.mark.quick
def test_phase_imports_no_package_of_ours_but_errors(tmp_path: Path) -> None:
    code = """
import sys, benchguard
benchguard.phase('after')
print(*(name for name in sys.modules if 'benchguard' in name))
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert set(result.stdout.split()) <= {
        "benchguard", "benchguard.errors", "benchguard.exit_status", "benchguard.phase", "benchguard.region",
        "benchguard.version",
    }  # fmt: skip
