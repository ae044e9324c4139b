"""The commands of README.md print what README.md shows."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

BLOCK = re.compile(r"<!-- checked -->\n```\n\$ neutrino-bench ([^\n]+)\n(.*?)```", re.DOTALL)
OMITTED = "…"
SHOWN_MAX = 10
"""The lines that a task's output has in the README, at most."""


def blocks() -> list[tuple[str, list[str]]]:
    """Each checked command of the README with the lines that it shows."""
    return [
        (result[1], result[2].splitlines()) for result in BLOCK.finditer((ROOT / "README.md").read_text())
    ]


def normal_form(line: str) -> str:
    """The line without the values that differ from run to run: numbers, hashes, padding, libraries."""
    line = re.sub(r"\(\d+ \w+(?:, \d+ \w+)*\)", "(SETS)", line)  # the drawn distributions
    line = re.sub(r"\b[0-9a-f]{12,64}\b|\b0x[0-9a-f]+", "H", line)
    line = re.sub(r"\bpython[\d.]+", "python", line)
    line = re.sub(r"took [\d.]+ [num]?s", "took N", line)
    line = re.sub(r"\S+\.so\S*", "LIBRARY", line)
    line = re.sub(r"-?\b\d[\d.]*(?:e[+-]?\d+)?\b", "N", line)
    return re.sub(r"[\s|+-]+", " ", line).strip()


def lines_missing_from(shown: list[str], printed: list[str]) -> Iterator[str]:
    """The shown lines that the output does not have after the one before."""
    rest = iter([normal_form(line) for line in printed])
    for line in shown:
        if line != OMITTED and normal_form(line) not in rest:
            yield line


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


def test_line_that_is_not_printed_is_found() -> None:
    printed = ["kernel | launches", "-------+---------", "saxpy  |       12", "done in 0.1 s"]
    assert list(lines_missing_from(["kernel | launches", "…", "saxpy |  3"], printed)) == []
    assert list(lines_missing_from(["saxpy | 3", "kernel | launches"], printed)) == ["kernel | launches"]
    assert list(lines_missing_from(["daxpy | 3"], printed)) == ["daxpy | 3"]
