"""The kernels of the corpus keep their outputs with the checks of the device cordon, and none is accused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT


@pytest.mark.full
def test_corpus_has_no_violation_and_keeps_its_outputs(native: Path) -> None:
    assert native
    command = [sys.executable, "-m", "tests.corpus.checked"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    runs, failed = _totals(done.stdout)
    assert runs > 400 and failed == 0


def _totals(text: str) -> tuple[int, int]:
    words = text.splitlines()[-1].replace(",", "").split()
    return int(words[0]), int(words[2])
