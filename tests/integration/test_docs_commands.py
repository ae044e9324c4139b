"""The commands of each tutorial run, in order, on the CPU driver, and print the lines that the page shows."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.shown_commands import Command, Saved, lines_missing_from, steps_of

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
COMMAND_SECONDS = 200


def prepare(folder: Path) -> dict[str, str]:
    """A checkout's folder for the reader, and the environment of the shell."""
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("examples", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored, symlinks=True)
    shutil.copy(ROOT / "pyproject.toml", folder)
    programs = folder / "bin"
    programs.mkdir()
    (programs / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (programs / "neutrino-bench").write_text(f'#!/bin/sh\nexec {sys.executable} -m benchguard "$@"\n')
    for program in programs.iterdir():
        program.chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "COLUMNS": "80"}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda path: path.stem)
def test_tutorial_commands_print_the_lines_shown(native: Path, tmp_path: Path, tutorial: Path) -> None:
    assert (native / "sim").is_dir()
    pytest.importorskip("cuda.bindings", reason="the extra `examples` is not installed")
    environment = prepare(tmp_path)
    for step in steps_of(tutorial.read_text()):
        if isinstance(step, Saved):
            path = tmp_path / step.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.text)
        elif isinstance(step, Command):
            result = subprocess.run(
                ["bash", "-c", step.text],
                cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False,
            )  # fmt: skip
            printed = result.stdout.splitlines() + result.stderr.splitlines()
            assert result.returncode == 0, f"$ {step.text}\n{result.stdout}{result.stderr}"
            missing = list(lines_missing_from(list(step.shown), printed))
            assert missing == [], f"$ {step.text}\n{result.stdout}{result.stderr}"
