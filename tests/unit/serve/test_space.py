"""The disk space of all logs of a service."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchguard.serve import space
from benchguard.serve.messages import RequestError
from benchguard.serve.space import LEAST_BYTES, Space

MEBI = 1 << 20


def log(folder: Path, name: str, size: int) -> Path:
    path = folder / f"{name}.audit.jsonl"
    path.write_bytes(bytes(size))
    return path


def test_running_programs_never_get_more_than_the_limit(tmp_path: Path) -> None:
    logs = Space(tmp_path, 3 * MEBI)
    promised = [logs.promise(tmp_path / f"{n}.audit.jsonl", 2 * MEBI) for n in range(2)]
    assert promised == [2 * MEBI, MEBI]
    with pytest.raises(RequestError, match="--max-total-bytes"):
        logs.promise(tmp_path / "third", 1)


def test_programs_that_may_still_come_have_their_share(tmp_path: Path) -> None:
    logs = Space(tmp_path, 4 * MEBI)
    assert [logs.promise(tmp_path / str(n), 9 * MEBI, shares=4 - n) for n in range(4)] == [MEBI] * 4


def test_ended_log_counts_with_its_size(tmp_path: Path) -> None:
    logs = Space(tmp_path, 3 * MEBI)
    path = tmp_path / "1.audit.jsonl"
    logs.promise(path, 3 * MEBI)
    log(tmp_path, "1", MEBI)
    logs.settle(path)
    assert logs.promise(tmp_path / "2", 9 * MEBI) == 2 * MEBI


def test_all_files_of_a_log_count(tmp_path: Path) -> None:
    logs = Space(tmp_path, 5 * MEBI)
    path = tmp_path / "1.audit.jsonl"
    logs.promise(path, 3 * MEBI)
    for name in (path.name, f"{path.name}.2", f"{path.name}.3"):
        (tmp_path / name).write_bytes(bytes(MEBI))
    logs.settle(path)
    assert logs.promise(tmp_path / "2", 9 * MEBI) == 2 * MEBI
    path.unlink()
    assert Space(tmp_path, 5 * MEBI).promise(tmp_path / "2", 9 * MEBI) == 3 * MEBI


def test_earlier_logs_count(tmp_path: Path) -> None:
    log(tmp_path, "old", 2 * MEBI)
    assert Space(tmp_path, 3 * MEBI).promise(tmp_path / "new", 9 * MEBI) == MEBI


def test_empty_logs_count_too(tmp_path: Path) -> None:
    """A program that attaches again and again would otherwise make files without end."""
    logs = Space(tmp_path, 10 * LEAST_BYTES)
    for number in range(10):
        path = log(tmp_path, str(number), 10)
        logs.promise(path, MEBI)
        logs.settle(path)
    with pytest.raises(RequestError):
        logs.promise(tmp_path / "eleventh", 1)


def test_removed_logs_make_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = log(tmp_path, "old", MEBI)
    logs = Space(tmp_path, MEBI)
    path.unlink()
    with pytest.raises(RequestError):
        logs.promise(tmp_path / "new", 1)  # the folder was read a moment ago
    monkeypatch.setattr(space, "RESCAN_SECONDS", 0)
    assert logs.promise(tmp_path / "new", 9 * MEBI) == MEBI
