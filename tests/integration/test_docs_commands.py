"""The commands of each tutorial run, in order, on the CPU driver, and print the lines that the page shows."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchguard.quarantine.runner.compilers import find_nvcc
from tests.conftest import ROOT
from tests.support.readers_folder import copy_checkout, environment
from tests.support.shown_commands import Command, Saved, lines_missing_from, steps_of

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
COMMAND_SECONDS = 200


@pytest.mark.timeout(600)
@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda path: path.stem)
def test_tutorial_commands_print_the_lines_shown(native: Path, tmp_path: Path, tutorial: Path) -> None:
    assert (native / "sim").is_dir()
    pytest.importorskip("cuda.bindings", reason="the extra `examples` is not installed")
    page = tutorial.read_text()
    if ".cu" in page and find_nvcc() is None:
        pytest.skip("there is no nvcc")
    copy_checkout(tmp_path)
    variables = environment(tmp_path)
    for step in steps_of(page):
        if isinstance(step, Saved):
            path = tmp_path / step.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.text)
        elif isinstance(step, Command):
            result = subprocess.run(
                ["bash", "-c", step.text],
                cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False,
            )  # fmt: skip
            printed = result.stdout.splitlines() + result.stderr.splitlines()
            assert result.returncode == 0, f"$ {step.text}\n{result.stdout}{result.stderr}"
            missing = list(lines_missing_from(list(step.shown), printed))
            assert missing == [], f"$ {step.text}\n{result.stdout}{result.stderr}"
