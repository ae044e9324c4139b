"""What is counted against a quarantine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchguard.quarantine import watch as module
from benchguard.quarantine.watch import Watch, machine_memory, resident_bytes


def test_what_a_process_holds() -> None:
    before = resident_bytes(os.getpid())
    hold = b"\1" * (64 << 20)
    assert 60 << 20 < resident_bytes(os.getpid()) - before < 80 << 20
    assert len(hold) and resident_bytes(1 << 30) == 0


def test_what_is_too_much(tmp_path: Path) -> None:
    ours = [os.getpid()]
    assert Watch(0, 1, tmp_path).look(ours) == ""
    assert "more than 1 processes" in Watch(0, 1, tmp_path).look(ours * 2)
    assert "are allowed" in Watch(1, 1, tmp_path).look(ours)


def test_what_is_left_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch(0, 1, tmp_path)
    total, available = machine_memory()
    assert 0 < available < total
    monkeypatch.setattr(Watch, "_free", lambda _: (1, 1 << 40))
    assert "scratch folder had 0 MiB" in watch.look([])
    monkeypatch.setattr(Watch, "_free", lambda _: (1 << 60, 1))
    assert "1 files left" in watch.look([])
    monkeypatch.setattr(module, "machine_memory", lambda: (1 << 36, 1 << 20))
    assert "1 MiB of memory left" in watch.look([])
