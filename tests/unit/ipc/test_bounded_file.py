"""Files that somebody names: regular ones are read up to a limit, all others are refused at once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchguard.grade.result import read_result
from benchguard.ipc.bounded_file import read_bounded


def test_file_up_to_the_limit_is_read(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"1234")
    assert read_bounded(tmp_path / "x", 4) == b"1234"
    with pytest.raises(OSError, match="it has more than 0 MiB"):
        read_bounded(tmp_path / "x", 3)


def test_pipe_device_and_folder_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(OSError, match="it is not a regular file"):
            read_bounded(path, 4)
    with pytest.raises(IsADirectoryError):
        read_bounded(tmp_path, 4)


def test_result_of_20_gb_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "r.json").open("wb") as file:
        file.truncate(20 << 30)
    with pytest.raises(OSError, match="it has more than 64 MiB"):
        read_result(tmp_path / "r.json")
