"""Readable places when folders are hidden."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchguard.quarantine.sandbox.filesystem import beside, places


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("a/b/c", "a/d", "e"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "a" / "file").touch()
    (tmp_path / "a" / "link").symlink_to("b")
    return tmp_path


def test_place_without_hidden_folders_allowed(tree: Path) -> None:
    assert list(beside(str(tree / "a"), [str(tree / "e"), str(tree / "ab")])) == [str(tree / "a")]


def test_hidden_folder_not_allowed(tree: Path) -> None:
    assert list(beside(str(tree / "a"), [str(tree / "a")])) == []


def test_siblings_of_hidden_folder_allowed(tree: Path) -> None:
    allowed = sorted(beside(str(tree), [str(tree / "a" / "b")]))
    assert allowed == [str(tree / name) for name in ("a/d", "a/file", "e")]


def test_needed_place_inside_hidden_folder_allowed(tree: Path) -> None:
    assert list(beside(str(tree / "a" / "b"), [str(tree / "a")])) == [str(tree / "a" / "b")]


def test_submission_always_allowed(tree: Path) -> None:
    place = str(tree / "a")
    assert list(beside(place, [place], [place])) == [place]


def test_root_and_repository_not_readable() -> None:
    result = places((), network=False)
    package = Path(__file__).parents[3]
    allowed = {Path(path) for path in result.readable}
    assert package / "benchguard" in allowed
    for secret in (
        Path("/"),
        package,
        package / "tests",
        Path("/etc"),
        Path("/proc"),
        Path("/dev/shm"),
        Path("/tmp"),
    ):
        assert secret not in allowed
    assert "/dev/null" in result.devices
