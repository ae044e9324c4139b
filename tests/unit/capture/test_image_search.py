"""Each image is searched once in a process, within the limit of each capture."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchguard.capture import image_search
from benchguard.capture.image_search import ImageSearch, Searched
from tests.unit.grade.recorded import record


def test_image_of_two_captures_is_searched_once(tmp_path: Path) -> None:
    found: list[int] = []

    def search(image: bytes, left: int) -> Searched:
        found.append(left)
        return Searched("a reason", len(image))

    searched = ImageSearch(search)
    assert [searched.first(record(tmp_path / f"{each}.ncap")) for each in "ab"] == ["a reason"] * 2
    assert found == [image_search.UNPACKED_MAX]


def test_known_image_beyond_the_limit_is_searched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search refuses what is too large, so that a capture of many large images is refused as before."""
    found: list[int] = []

    def search(_: bytes, left: int) -> Searched:
        found.append(left)
        return Searched("", 100)

    searched = ImageSearch(search)
    assert searched.first(record(tmp_path / "a.ncap")) == ""
    monkeypatch.setattr(image_search, "UNPACKED_MAX", 99)
    assert searched.first(record(tmp_path / "b.ncap")) == ""
    assert found == [4 << 30, 99]
