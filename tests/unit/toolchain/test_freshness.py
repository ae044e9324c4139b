"""Native libraries that were built from other C sources than those beside them are found before a grade."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchguard.grade import grade as grade_module
from benchguard.grade.grade import check_inputs
from benchguard.grade.options import GradeOptions
from benchguard.toolchain import freshness, native
from benchguard.toolchain.errors import ShimError
from benchguard.toolchain.freshness import Sources, check_is_current, write_sources

PROBLEM = Path(__file__).parents[3] / "examples" / "problems" / "vector_add.py"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one part that has just been built; its sources are in source/engine."""
    source = tmp_path / "source"
    (source / "engine" / "inner").mkdir(parents=True)
    (source / "engine" / "inner" / "loop.c").write_text("int loop;\n")
    (source / "engine" / "gone.c").write_text("int gone;\n")
    (tmp_path / "build.py").touch()
    monkeypatch.setattr(freshness, "SOURCE", source)
    part = tmp_path / "native" / "replay"
    part.mkdir(parents=True)
    write_sources(part, Sources.below([source / "engine"]))
    return tmp_path


def check(place: Path) -> None:
    check_is_current(place / "native", ["replay"], place)


def change_later(place: Path, text: str) -> None:
    file = place / "source" / "engine" / "inner" / "loop.c"
    file.write_text(text)
    later = (place / "native" / "replay" / ".sources").stat().st_mtime_ns + 1_000_000_000
    os.utime(file, ns=(later, later))


def test_libraries_just_built_are_current(place: Path) -> None:
    check(place)


def test_changed_source_asks_for_a_build(place: Path) -> None:
    change_later(place, "int another_loop;\n")
    with pytest.raises(
        ShimError, match=r"are older than their sources \(replay\); run `python build.py build`"
    ):
        check(place)


def test_removed_source_asks_for_a_build(place: Path) -> None:
    (place / "source" / "engine" / "gone.c").unlink()
    with pytest.raises(ShimError, match="older than their sources"):
        check(place)


def test_source_with_a_new_time_and_former_contents_is_current(place: Path) -> None:
    change_later(place, "int loop;\n")
    check(place)


def test_libraries_of_an_installed_package_are_not_compared(place: Path) -> None:
    change_later(place, "int another_loop;\n")
    (place / "build.py").unlink()
    check(place)


def test_libraries_without_a_note_of_their_sources_are_not_compared(place: Path) -> None:
    change_later(place, "int another_loop;\n")
    (place / "native" / "replay" / ".sources").unlink()
    check(place)


def test_build_notes_the_sources_of_a_part(tmp_path: Path) -> None:
    native.build_native(["preload"], tmp_path)
    (tmp_path / "preload" / ".sources").unlink()
    assert native.build_native(["preload"], tmp_path) == {"preload": False}
    noted = (tmp_path / "preload" / ".sources").read_text()
    assert '"preload"' in noted and '"hook/core"' in noted


def test_grade_with_outdated_libraries_is_refused_before_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was `failed`, because of a capture that the old engine could not read."""

    def outdated() -> None:
        raise ShimError("the native libraries are older than their sources")

    monkeypatch.setattr(grade_module, "check_is_current", outdated)
    with pytest.raises(ShimError, match="older than their sources"):
        check_inputs(GradeOptions(), PROBLEM)
