"""What is counted against a quarantine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchguard.quarantine import watch as module
from benchguard.quarantine.watch import Watch, machine_memory, resident_bytes


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("VmRSS:\t 900 kB\nRssAnon:\t 64 kB\nRssFile:\t 800 kB\nRssShmem:\t 36 kB\n", 100 << 10),
        ("Name:\tsleep\nVmRSS:\t 900 kB\n", 900 << 10),
        ("Name:\tkthread\n", 0),
    ],
    ids=["Linux", "gVisor, which has the sum only", "kernel thread"],
)
def test_resident_bytes_counts_anonymous_and_shared_memory(
    tmp_path: Path, status: str, expected: int
) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "status").write_text(status)
    assert resident_bytes(7, proc=tmp_path) == expected


def test_resident_bytes_zero_for_ended_process(tmp_path: Path) -> None:
    assert resident_bytes(7, proc=tmp_path) == 0


def test_watch_reports_exceeded_processes_and_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = [os.getpid()]
    monkeypatch.setattr(module, "resident_bytes", lambda _: 1 << 20)
    assert Watch(0, 1, tmp_path).look(ours) == ""
    assert "more than 1 processes" in Watch(0, 1, tmp_path).look(ours * 2)
    assert "GiB are allowed" in Watch(1, 1, tmp_path).look(ours)


def test_watch_reports_low_disk_inodes_and_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch(0, 1, tmp_path)
    total, available = machine_memory()
    assert 0 < available < total
    monkeypatch.setattr(Watch, "_free", lambda _: (1, 1 << 40))
    assert "left 0 MiB and" in watch.look([])
    monkeypatch.setattr(Watch, "_free", lambda _: (1 << 60, 1))
    assert "1 files on its scratch disk" in watch.look([])
    monkeypatch.setattr(module, "machine_memory", lambda: (1 << 36, 1 << 20))
    assert "left 1 MiB of the machine" in watch.look([])
