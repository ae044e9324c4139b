"""Kept objects: a unit is compiled again exactly when an input of it changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchguard.toolchain.compiler import find_compiler
from benchguard.toolchain.objects import CompileError, Objects, Unit


@pytest.fixture
def unit(tmp_path: Path) -> Unit:
    (tmp_path / "part.h").write_text("#define ANSWER 42\n")
    (tmp_path / "part.c").write_text('#include "part.h"\nint answer(void) { return ANSWER; }\n')
    return unit_of(tmp_path / "part.c")


def unit_of(source: Path, *flags: str) -> Unit:
    return Unit(source, (*find_compiler().command, *flags, "-c", str(source)))


def compiled(unit: Unit, folder: Path, version: str = "1") -> tuple[Path, bool]:
    """The object, and whether this call wrote it."""
    objects = Objects(folder / "objects", version)
    path = objects.path(unit)
    if path.exists():
        os.utime(path, (0, 0))
    objects.compile(unit)
    return path, path.stat().st_mtime != 0


def test_unchanged_unit_is_not_compiled_again(unit: Unit, tmp_path: Path) -> None:
    assert compiled(unit, tmp_path)[1]
    assert not compiled(unit, tmp_path)[1]


def test_rewritten_source_with_the_same_text_is_not_compiled_again(unit: Unit, tmp_path: Path) -> None:
    compiled(unit, tmp_path)
    unit.source.write_text(unit.source.read_text())
    assert not compiled(unit, tmp_path)[1]


@pytest.mark.parametrize("name", ["part.c", "part.h"])
def test_changed_source_or_header_is_compiled_again(unit: Unit, tmp_path: Path, name: str) -> None:
    compiled(unit, tmp_path)
    path = tmp_path / name
    path.write_text(path.read_text().replace("ANSWER", "ANSWER ") + "/* changed */\n")
    assert compiled(unit, tmp_path)[1]


def test_another_compiler_version_is_compiled_again(unit: Unit, tmp_path: Path) -> None:
    compiled(unit, tmp_path)
    assert compiled(unit, tmp_path, "2")[1]


def test_other_flags_have_an_object_of_their_own(unit: Unit, tmp_path: Path) -> None:
    """A sanitizer's build leaves the plain objects as they are."""
    plain, _ = compiled(unit, tmp_path)
    sanitized, _ = compiled(unit_of(unit.source, "-fsanitize=undefined"), tmp_path)
    assert plain != sanitized
    assert not compiled(unit, tmp_path)[1]


def test_sources_of_one_name_have_objects_of_their_own(unit: Unit, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / "part.c"
    other.write_text("int other;\n")
    assert compiled(unit, tmp_path)[0] != compiled(unit_of(other), tmp_path)[0]


def test_failed_compilation_leaves_no_object_that_counts(unit: Unit, tmp_path: Path) -> None:
    compiled(unit, tmp_path)
    good = unit.source.read_text()
    unit.source.write_text("int answer(void) { return x; }")
    with pytest.raises(CompileError, match=r"part\.c:1"):
        compiled(unit, tmp_path)
    unit.source.write_text(good)
    assert compiled(unit, tmp_path)[1]


def test_space_in_a_path_is_understood(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "part.h").write_text("#define ANSWER 42\n")
    (folder / "part.c").write_text('#include "part.h"\nint answer(void) { return ANSWER; }\n')
    unit = unit_of(folder / "part.c")
    compiled(unit, tmp_path)
    assert not compiled(unit, tmp_path)[1]
    (folder / "part.h").write_text("#define ANSWER 43\n")
    assert compiled(unit, tmp_path)[1]
