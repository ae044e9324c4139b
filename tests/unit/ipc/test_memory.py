"""The machine's memory, as far as this process's cgroups let it use it."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchguard.ipc import memory
from benchguard.ipc.memory import machine_memory

MIB = 1 << 20


def write(folder: Path, limit: str, used: int, files: int) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "memory.max").write_text(f"{limit}\n")
    (folder / "memory.current").write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 1\ninactive_file {files}\nactive_file 1048576\n")


@pytest.fixture
def cgroups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    own = tmp_path / "own"
    own.write_text("5:cpu:/other\n0::/outer/inner\n")
    monkeypatch.setattr(memory, "_CGROUPS", tmp_path / "mount")
    monkeypatch.setattr(memory, "_OWN_CGROUP", own)
    (tmp_path / "mount").mkdir()
    return tmp_path / "mount"


def test_memory_without_a_limit_is_the_machines(cgroups: Path) -> None:
    whole, _ = machine_memory()
    write(cgroups / "outer", "max", 5, 0)
    assert machine_memory()[0] == whole > 64 * MIB


def test_limit_of_the_cgroup_counts_without_pages_of_files(cgroups: Path) -> None:
    write(cgroups / "outer", str(64 * MIB), 40 * MIB, 7 * MIB)
    assert machine_memory() == (64 * MIB, 32 * MIB)


def test_smallest_limit_around_the_process_counts(cgroups: Path) -> None:
    write(cgroups / "outer", str(64 * MIB), 60 * MIB, 0)
    write(cgroups / "outer" / "inner", str(32 * MIB), 12 * MIB, 1 * MIB)
    assert machine_memory() == (32 * MIB, 5 * MIB)


def test_cgroup_of_a_container_is_at_the_mount(cgroups: Path) -> None:
    """The path in /proc/self/cgroup may be the host's."""
    write(cgroups, str(64 * MIB), 60 * MIB, 0)
    assert machine_memory() == (64 * MIB, 5 * MIB)
