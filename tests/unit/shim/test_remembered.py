"""Facts that an earlier run found out about a file are believed as long as the file is the same."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from benchguard.shim import remembered as module
from benchguard.shim.remembered import remembered

Read = Callable[..., str]


class Finder:
    """Reads a file, and counts how often."""

    def __init__(self, path: Path, cache: Path) -> None:
        self._path, self._environment = path, {"XDG_CACHE_HOME": str(cache)}
        self.count = 0

    def __call__(self, *key: str) -> str:
        return remembered("test", key, (self._path,), str, self._find, self._environment)

    def _find(self) -> str:
        self.count += 1
        return self._path.read_text()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_text("one")
    return path


@pytest.fixture
def finder(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Finder:
    monkeypatch.setattr(module, "SETTLED_SECONDS", 0.0)
    return Finder(path, tmp_path / "cache")


def entry_of(cache: Path) -> Path:
    (entry,) = (cache / "neutrino-bench" / "remembered").iterdir()
    return entry


def test_unchanged_file_is_read_once(finder: Finder) -> None:
    assert [finder(), finder(), finder()] == ["one"] * 3
    assert finder.count == 1


def test_other_key_is_found_anew(finder: Finder) -> None:
    assert [finder("-m32"), finder("-m64")] == ["one"] * 2
    assert finder.count == 2


def test_file_with_other_content_of_the_same_size_and_date_is_read_anew(finder: Finder, path: Path) -> None:
    status = path.stat()
    assert finder() == "one"
    path.write_text("two")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert finder() == "two"


def test_file_in_place_of_another_is_read_anew(finder: Finder, path: Path) -> None:
    assert finder() == "one"
    other = path.with_name("other")
    other.write_text("two")
    other.replace(path)
    assert finder() == "two"


def test_file_that_changed_a_moment_ago_is_not_remembered(
    finder: Finder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second change at once could leave the same times."""
    monkeypatch.setattr(module, "SETTLED_SECONDS", 3600.0)
    assert [finder(), finder()] == ["one"] * 2
    assert finder.count == 2


def test_file_that_changes_while_it_is_read_is_not_remembered(
    finder: Finder, path: Path, tmp_path: Path
) -> None:
    def find() -> str:
        text = path.read_text()
        path.write_text("later")
        return text

    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert remembered("test", (), (path,), str, find, environment) == "one"
    assert finder() == "later"


def damage_value(entry: Path) -> None:
    document = json.loads(entry.read_bytes())
    entry.write_text(json.dumps({**document, "value": 7}))


def damage_form(entry: Path) -> None:
    document = json.loads(entry.read_bytes())
    entry.write_text(json.dumps({**document, "more": 7}))


def make_pipe(entry: Path) -> None:
    entry.unlink()
    os.mkfifo(entry)


@pytest.mark.parametrize(
    "damage",
    [
        lambda entry: entry.write_bytes(b""),
        lambda entry: entry.write_bytes(b"\xff" * 100),
        lambda entry: entry.write_bytes(b"[" * 1_000_000),
        lambda entry: os.truncate(entry, module.ENTRY_MAX + 1),
        lambda entry: os.truncate(entry, 30),
        damage_value,
        damage_form,
        make_pipe,
    ],
    ids=["empty", "no text", "deep", "large", "torn", "other type", "other form", "pipe"],
)
def test_damaged_entry_is_found_anew_and_replaced(
    finder: Finder, tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    finder()
    damage(entry_of(tmp_path / "cache"))
    assert [finder(), finder()] == ["one"] * 2
    assert finder.count == 2


def test_entry_of_another_file_is_not_used(finder: Finder, path: Path, tmp_path: Path) -> None:
    """A file moved into the cache by hand."""
    finder()
    mine = entry_of(tmp_path / "cache")
    other = path.with_name("other")
    other.write_text("two")
    second = Finder(other, tmp_path / "second")
    second()
    mine.write_bytes(entry_of(tmp_path / "second").read_bytes())
    assert finder() == "one"


@pytest.mark.parametrize("kind", ["file", "missing home"])
def test_cache_that_cannot_be_written_costs_time_only(
    path: Path, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_folder(*_: object) -> Path:
        raise module.ShimError("this user has no home folder")

    (tmp_path / "cache").write_text("")
    if kind == "missing home":
        monkeypatch.setattr(module, "cache_folder", no_folder)
    finder = Finder(path, tmp_path / "cache")
    assert [finder(), finder()] == ["one"] * 2
    assert finder.count == 2


def test_failure_is_not_remembered(finder: Finder, path: Path, tmp_path: Path) -> None:
    def fail() -> str:
        raise module.ShimError("it does not run")

    with pytest.raises(module.ShimError):
        remembered("test", (), (path,), str, fail, {"XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert finder() == "one"


def test_missing_file_is_looked_for_each_time(finder: Finder, path: Path) -> None:
    path.unlink()
    with pytest.raises(FileNotFoundError):
        finder()
    path.write_text("two")
    assert finder() == "two"
