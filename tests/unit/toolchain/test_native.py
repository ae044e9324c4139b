"""The native build: kept objects and generated sources, and the compilation database for editors."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from benchguard.toolchain import native
from benchguard.toolchain.errors import ShimError

PART = "preload"


@pytest.fixture
def build(tmp_path: Path) -> Callable[[], bool]:
    """Build one small part, keep its objects; whether anything was compiled or linked."""

    def run() -> bool:
        database = tmp_path / "compile_commands.json"
        return native.build_native([PART], tmp_path / "out", None, tmp_path / "kept", database)[PART]

    return run


def objects(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in (folder / "kept").rglob("*.o")}


def test_unchanged_part_is_up_to_date(build: Callable[[], bool]) -> None:
    assert build()
    assert not build()


def test_kept_objects_are_used_again(build: Callable[[], bool], tmp_path: Path) -> None:
    build()
    before = objects(tmp_path)
    shutil.rmtree(tmp_path / "out")
    assert build()
    kept = {path: time for path, time in before.items() if ".S-" not in path.name}
    assert kept and kept.items() <= objects(tmp_path).items()  # an assembler source is always made again


def test_compile_commands_name_the_sources_of_every_part(build: Callable[[], bool], tmp_path: Path) -> None:
    build()
    entries = json.loads((tmp_path / "compile_commands.json").read_text())
    files = [Path(entry["file"]) for entry in entries]
    assert len(set(files)) == len(files)
    assert {"hook", "preload", "sim"} <= {file.relative_to(native.PACKAGE.parent).parts[0] for file in files if
                                          file.is_relative_to(native.PACKAGE.parent)}  # fmt: skip
    assert all(entry["arguments"][-1] == entry["file"] for entry in entries)


def test_generator_runs_only_when_its_inputs_change(
    build: Callable[[], bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "table.toml"
    table.write_text("a = 1\n")
    runs: list[Path] = []
    part = replace(
        native.PARTS[PART], generate=lambda _, folder: runs.append(folder), generated_from=(table,)
    )
    monkeypatch.setitem(native.PARTS, PART, part)
    for _ in range(2):
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        build()
    assert len(runs) == 1
    table.write_text("a = 2\n")
    shutil.rmtree(tmp_path / "out")
    build()
    assert len(runs) == 2


def test_group_name_builds_each_of_its_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "_build_parts", lambda _, names: dict.fromkeys(names, False))
    assert list(native.build_native(["engine"], tmp_path)) == ["replay", "inline"]


def test_unknown_part_is_named(tmp_path: Path) -> None:
    with pytest.raises(ShimError, match="no part hooks; the parts are shim, preload, sim"):
        native.build_native(["hooks"], tmp_path)
