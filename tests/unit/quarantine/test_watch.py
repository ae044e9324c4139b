"""Limits that the watch enforces."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchguard.ipc.memory import machine_memory, resident_bytes, resident_in
from benchguard.quarantine import watch as module
from benchguard.quarantine.watch import Watch


@pytest.mark.parametrize(
    ("status", "kib"),
    [
        (b"VmRSS:\t900 kB\nRssAnon:\t100 kB\nRssFile:\t500 kB\nRssShmem:\t300 kB\n", 400),
        (b"VmRSS:\t900 kB\n", 900),  # gVisor reports the sum only
        (b"Name:\tkthreadd\n", 0),
    ],
)
def test_resident_memory_excludes_pages_of_files(status: bytes, kib: int) -> None:
    assert resident_in(status) == kib << 10


def test_resident_memory_is_read_from_proc() -> None:
    assert resident_bytes(os.getpid()) > 0
    assert resident_bytes(1 << 30) == 0


def test_watch_reports_exceeded_processes_and_memory(tmp_path: Path) -> None:
    ours = [os.getpid()]
    assert Watch(0, 1, tmp_path).look(ours) == ""
    assert "more than 1 processes" in Watch(0, 1, tmp_path).look(ours * 2)
    assert "are allowed" in Watch(1, 1, tmp_path).look(ours)


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
