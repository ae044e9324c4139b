"""Tests that a quick run skips run in the full run after it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONFTEST = """
import pathlib
import tests.tiers

tests.tiers.HERE = pathlib.Path(__file__).parent
pytest_plugins = ["tests.tiers", "tests.skipped"]
"""
TESTS = """
import os
import pytest

MISSING = "EXTRA" not in os.environ

def test_always():
    pass

@pytest.mark.skipif(MISSING, reason="no extra")
def test_needs_extra():
    pass

@pytest.mark.quick
@pytest.mark.skipif(MISSING, reason="no extra")
def test_marked_quick():
    pass

@pytest.mark.parametrize("number", [1, 2])
def test_skips_itself(number):
    if MISSING and number == 2:
        pytest.skip("no extra")

@pytest.mark.full
def test_full():
    pass
"""
MODULE = """
import os
import pytest

if "EXTRA" not in os.environ:
    pytest.skip("no extra", allow_module_level=True)

def test_in_module():
    pass
"""


def passed(folder: Path, *options: str, extra: bool = False) -> set[str]:
    """The names of the tests that passed."""
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", **({"EXTRA": "1"} if extra else {})}
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:hypothesispytest", *options]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    lines = [each.split() for each in done.stdout.splitlines()]
    words = [(word, state) for line in lines for word in line for state in line if "::" in word]
    return {word.rpartition("::")[2] for word, state in words if state == "PASSED"}


@pytest.mark.full
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "workers"])
def test_skipped_tests_run_with_the_full_ones(tmp_path: Path, workers: tuple[str, ...]) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_a.py").write_text(TESTS)
    (tmp_path / "test_module.py").write_text(MODULE)
    assert passed(tmp_path, "-m", "full", *workers, extra=True) == {"test_full"}
    assert passed(tmp_path, "-m", "full", "-p", "no:cacheprovider", *workers) == {"test_full"}
    assert passed(tmp_path, "-m", "quick", *workers) == {"test_always", "test_skips_itself[1]"}
    passed(
        tmp_path, "-m", "quick", "-k", "always", *workers
    )  # a part of the tests tells nothing of the others
    skipped = {"test_needs_extra", "test_marked_quick", "test_skips_itself[2]", "test_in_module"}
    assert passed(tmp_path, "-m", "full", *workers, extra=True) == {"test_full", *skipped}
    assert passed(tmp_path, "-m", "quick", *workers, extra=True) >= {"test_always", *skipped}
