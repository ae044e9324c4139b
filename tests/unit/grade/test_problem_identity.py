"""The SHA-256 of a problem does not depend on how its path is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchguard.grade.problem_identity import sha256_of


def test_relative_folder_has_the_hash_of_its_absolute_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`batch` and `grade --bundle` refused a problem such as tasks/sink."""
    task = tmp_path / "tasks" / "sink"
    (task / "inner").mkdir(parents=True)
    (task / "challenge.py").write_text("A = 1\n")
    (task / "inner" / "part.py").write_text("B = 2\n")
    monkeypatch.chdir(tmp_path)
    assert sha256_of("tasks/sink") == sha256_of(str(task))
    monkeypatch.chdir(task)
    assert sha256_of(".") == sha256_of(str(task))


def test_changed_file_changes_the_hash(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("A = 1\n")
    before = sha256_of(str(tmp_path))
    (tmp_path / "a.py").write_text("A = 2\n")
    assert sha256_of(str(tmp_path)) != before
