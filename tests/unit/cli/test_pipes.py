"""Commands that need a regular file refuse a pipe at once, instead of waiting for its writer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.log_lines import end, session, write_log


@pytest.mark.parametrize(
    "words", [["inspect", "pipe"], ["report", "log", "--html", "page", "--result", "pipe"]]
)
def test_pipe_without_a_writer_is_refused_at_once(tmp_path: Path, words: list[str]) -> None:
    os.mkfifo(tmp_path / "pipe")
    write_log(tmp_path / "log", [session(), end()])
    done = subprocess.run(
        [sys.executable, "-m", "benchguard", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "cannot read pipe: it is not a regular file" in done.stderr and done.stderr.count("\n") == 1
