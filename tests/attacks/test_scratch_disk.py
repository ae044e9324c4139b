"""A submission that fills its scratch disk fails. The machine is not at fault, which would give no verdict."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attacks.catalogue import ATTACKS, HONEST
from tests.attacks.running import Machine, grade

SIM = Machine("sim", seconds=200)


@pytest.fixture
def small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The folder for temporary files is a disk of its own."""
    words = ["mount", "-t", "tmpfs", "-o", "size=400m,mode=1777", "tmpfs", str(tmp_path)]
    if subprocess.run(words, capture_output=True, check=False).returncode != 0:
        pytest.skip("this user cannot mount a file system")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    yield
    subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


@pytest.mark.usefixtures("small_disk")
def test_disk_filled_by_a_nameless_file_fails_the_submission() -> None:
    found = grade(ATTACKS / "34_nameless_file.py", "Mix", SIM, "small")
    assert found.verdict == "failed"
    assert "on its scratch disk; write less" in found.reason
    assert grade(HONEST / "mix.py", "Mix", SIM, "small").verdict == "pass"
