"""Limits that the watch enforces."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchguard.ipc.memory import machine_memory, resident_bytes, resident_in
from benchguard.quarantine import watch as module
from benchguard.quarantine.sandbox.environment import CAPTURES
from benchguard.quarantine.watch import ShortageError, Watch, check_disk


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


def test_disk_that_the_watched_filled_is_their_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Watch, "_free", lambda _: (4 << 20, 1 << 40))
    monkeypatch.setattr(module, "_RETURN_SECONDS", 0.0)
    watch = Watch(0, 1, tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(b"x" * (1 << 20))
    monkeypatch.setattr(Watch, "_free", lambda _: (0, 1 << 40))
    with pytest.raises(ShortageError, match="wrote 1 MiB; free some"):
        watch.look([])
    assert watch.blame() == ""
    (tmp_path / "other").write_bytes(b"x" * (2 << 20))
    assert "left 0 MiB and" in watch.look([])


def test_disk_that_captures_filled_is_named_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A region's memory is recorded there, and not by the submission's will."""
    monkeypatch.setattr(Watch, "_free", lambda _: (4 << 20, 1 << 40))
    watch = Watch(0, 1, tmp_path)
    (tmp_path / CAPTURES).mkdir()
    (tmp_path / CAPTURES / "first").write_bytes(b"x" * (3 << 20))
    monkeypatch.setattr(Watch, "_free", lambda _: (0, 1 << 40))
    found = watch.look([])
    assert found.startswith(
        "captures of the submission's calls took 3 MiB and left 0 MiB on its scratch disk; grade"
    )


def test_disk_that_comes_back_with_their_end_is_their_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may have filled it with a file that has no name."""
    free = iter([4 << 20, 0, 0, 2 << 20])
    monkeypatch.setattr(Watch, "_free", lambda _: (next(free), 1 << 40))
    watch = Watch(0, 1, tmp_path)
    assert watch.blame() == ""
    with pytest.raises(ShortageError):
        watch.look([])
    assert "left 0 MiB and" in watch.blame()


@pytest.mark.parametrize("mib", [0, 63, 64])
def test_full_disk_is_refused_before_a_submission_starts(
    mib: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = os.statvfs(tmp_path)
    blocks = (mib << 20) // found.f_frsize
    monkeypatch.setattr(module.os, "statvfs", lambda _: os.statvfs_result((*found[:4], blocks, *found[5:])))
    if mib == 64:
        check_disk(tmp_path)
        return
    with pytest.raises(ShortageError, match=rf"has {mib} MiB left, and a grade needs 64 MiB; free some"):
        check_disk(tmp_path)


def test_inodes_that_others_used_are_not_their_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch(0, 1, tmp_path)
    monkeypatch.setattr(Watch, "_free", lambda _: (1 << 60, 1))
    with pytest.raises(ShortageError, match="1 files left"):
        watch.look([])
    monkeypatch.setattr(module, "_ENTRIES_MAX", 3)
    for name in "abc":
        (tmp_path / name).touch()
    assert "1 files on its scratch disk" in watch.look([])


def test_memory_that_ran_out_beside_other_graders_is_not_their_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The memory of the others comes back, too, when they end for the same reason."""
    ours = [os.getpid()]
    total, start = 64 << 30, 8 << 30
    monkeypatch.setattr(module, "resident_bytes", lambda _: 5 << 30)
    monkeypatch.setattr(module, "machine_memory", lambda: (total, start))
    for others, blamed in ((1, True), (2, False)):  # one is the judge of this grade
        monkeypatch.setattr(module, "machine_memory", lambda: (total, start))
        watch = Watch(0, 1, tmp_path)
        monkeypatch.setattr(module, "graders", lambda _, count=others: count)
        monkeypatch.setattr(module, "machine_memory", lambda: (total, 1 << 30))
        if blamed:
            assert "left 1024 MiB of the machine" in watch.look(ours)
            continue
        with pytest.raises(ShortageError, match="grade fewer at once"):
            watch.look(ours)
        monkeypatch.setattr(module, "machine_memory", lambda: (total, total))
        assert watch.blame() == ""
    monkeypatch.setattr(module, "machine_memory", lambda: (total, 1 << 30))
    monkeypatch.setattr(module, "resident_bytes", lambda _: total // 4)
    assert "left 1024 MiB of the machine" in watch.look(ours)


def test_memory_that_the_watched_used_is_their_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anonymous files count, too: they are in no process's resident memory as long as nobody maps them."""
    ours = [os.getpid()]
    total, available = machine_memory()
    assert 0 < available < total
    start = 2 * resident_bytes(os.getpid()) + (64 << 20)
    monkeypatch.setattr(module, "graders", lambda _: 1)
    monkeypatch.setattr(module, "machine_memory", lambda: (1 << 40, start))
    watch = Watch(0, 1, tmp_path)
    assert watch._available == start
    monkeypatch.setattr(module, "machine_memory", lambda: (1 << 40, 1 << 20))
    with pytest.raises(ShortageError, match="has 1 MiB of memory left"):
        watch.look(ours)
    monkeypatch.setattr(module, "resident_bytes", lambda _: 0)
    descriptor = os.memfd_create("hog")
    try:
        os.posix_fallocate(descriptor, 0, start // 2 + (1 << 20))
        assert "left 1 MiB of the machine" in watch.look(ours)
    finally:
        os.close(descriptor)
