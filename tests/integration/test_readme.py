"""The commands of README.md print what README.md shows."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.shown_commands import lines_missing_from

BLOCK = re.compile(r"<!-- checked -->\n```\n\$ neutrino-bench ([^\n]+)\n(.*?)```", re.DOTALL)
SHOWN_MAX = 10
"""The lines that a task's output has in the README, at most."""


def blocks() -> list[tuple[str, list[str]]]:
    """Each checked command of the README with the lines that it shows."""
    return [
        (result[1], result[2].splitlines()) for result in BLOCK.finditer((ROOT / "README.md").read_text())
    ]


def test_readme_has_its_six_tasks_in_short() -> None:
    assert [command.split()[0] for command, _ in blocks()] == [
        "--log",
        "trace",
        "record",
        "replay",
        "grade",
        "compare",
    ]
    assert all(len(shown) <= SHOWN_MAX for _, shown in blocks())


@pytest.mark.full
def test_readme_commands_print_the_lines_shown(native: Path, tmp_path: Path) -> None:
    """In order: the replay reads the capture that the second command writes."""
    pytest.importorskip("cuda.bindings")
    assert (native / "sim").is_dir()
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80"}
    for command, shown in blocks():
        words = [sys.executable if word == "python" else word for word in shlex.split(command)]
        options = ["--driver", "sim"]
        words = [*options, *words] if words[0].startswith("-") else [words[0], *options, *words[1:]]
        result = subprocess.run(
            [sys.executable, "-m", "benchguard", *words],
            cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=280, check=False,
        )  # fmt: skip
        assert result.returncode == 0, result.stdout + result.stderr
        printed = result.stdout.splitlines() + result.stderr.splitlines()
        assert list(lines_missing_from(shown, printed)) == [], command
