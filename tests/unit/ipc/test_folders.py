"""A temporary folder is private, and no interrupt leaves it behind."""

from __future__ import annotations

import stat
import tempfile
from pathlib import Path
from typing import Any

import pytest

from benchguard.ipc.folders import temporary_folder, unused_name


@pytest.fixture(autouse=True)
def _in_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_folder_is_private_and_removed(tmp_path: Path) -> None:
    with temporary_folder("neutrino-") as folder:
        assert folder.parent == tmp_path and folder.name.startswith("neutrino-")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "inside").mkdir()
        (folder / "inside" / "file").touch()
    assert list(tmp_path.iterdir()) == []


def test_interrupt_while_the_folder_is_made_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def interrupted(self: Path, *words: Any, **named: Any) -> None:
        mkdir(self, *words, **named)
        made.append(self)
        raise KeyboardInterrupt

    mkdir = Path.mkdir
    monkeypatch.setattr(Path, "mkdir", interrupted)
    with pytest.raises(KeyboardInterrupt), temporary_folder("neutrino-"):
        pass
    assert len(made) == 1 and list(tmp_path.iterdir()) == []


def test_names_differ_in_the_folder_that_is_given(tmp_path: Path) -> None:
    first, second = (unused_name("x-", tmp_path / "inside") for _ in range(2))
    assert first != second and first.parent == second.parent == tmp_path / "inside"
