"""Every example that the CPU driver can run: recorded, replayed to the byte, then run on inputs it never saw."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchguard import Capture
from tests.conftest import ROOT
from tests.integration.support import Record

EXAMPLES = ROOT / "examples"
GRAYSCALE = EXAMPLES / "grayscale" / "submission.py"
EQUALISE = EXAMPLES / "replay" / "program.py"
NEEDS = {"cuda": "cuda.core", "numba": "numba_cuda"}


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
        env=environment,
    )


def assert_replays_to_the_byte(capture: Path) -> None:
    words = ("replay", capture, "--driver", "sim", "--samples", "3", "--verify", "--json", "-", "--quiet")
    outcome = run("-m", "benchguard", *words)
    assert outcome.returncode == 0, outcome.stderr
    result = json.loads(outcome.stdout)
    assert result["verdict"] == "pass"
    assert result["verification"]["exact"]
    assert len(result["cases"][0]["samples"]) == 3


@pytest.mark.parametrize("version", list(NEEDS))
def test_unmodified_grayscale_is_recorded_and_replayed(record: Record, tmp_path: Path, version: str) -> None:
    pytest.importorskip(NEEDS[version], reason="comes with the extra examples")
    command = [
        sys.executable,
        GRAYSCALE,
        "--version",
        version,
        "--size",
        "64",
        "--out",
        tmp_path / "pictures",
    ]
    recorded = record(command, "--kernel", "*grayscale*")
    assert recorded.status == 0, recorded.stderr
    with Capture.open(tmp_path / "x.ncap") as capture:
        (operation,) = capture.operations
        assert "grayscale" in capture.kernels[0].name and operation.grid == (4, 4, 1)
        assert not capture.refusals
    assert_replays_to_the_byte(tmp_path / "x.ncap")


def test_equalise_with_a_named_region_is_recorded_and_replayed(record: Record, tmp_path: Path) -> None:
    pytest.importorskip("cuda.core", reason="comes with the extra examples")
    recorded = record([sys.executable, EQUALISE, "--size", "64"])
    assert recorded.status == 0, recorded.stderr
    with Capture.open(tmp_path / "x.ncap") as capture:
        assert [each.name for each in capture.ranges] == ["picture", "result"]
        assert [kernel.name for kernel in capture.kernels] == ["count_levels", "equalise"]
    assert_replays_to_the_byte(tmp_path / "x.ncap")


def test_replay_with_new_inputs_is_right(native: Path) -> None:
    """The example checks each answer itself, and fails if one is wrong."""
    assert (native / "replay").is_dir()
    pytest.importorskip("cuda.core", reason="comes with the extra examples")
    outcome = run(EXAMPLES / "replay" / "fresh_inputs.py", "--driver", "sim", "--inputs", "3")
    assert outcome.returncode == 0, outcome.stderr
    assert "3 of 3 new pictures have the correct result" in outcome.stdout
