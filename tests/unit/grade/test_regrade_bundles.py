"""Several bundles of an archive name one result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchguard.archive import BundleError
from benchguard.errors import BenchguardError
from benchguard.grade import regrade


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders of the loads. A bundle is its own error, or the text "honest"."""
    folders: list[Path] = []

    def load(bundle: Any, folder: Path, until: float) -> Any:
        del until
        assert not list(folder.iterdir())
        (folder / "0-0.ncap").write_bytes(b"capture")
        folders.append(folder)
        if isinstance(bundle, BaseException):
            raise bundle
        return bundle

    monkeypatch.setattr(regrade, "load", load)
    monkeypatch.setattr(regrade, "sha256_of", lambda _: "")
    monkeypatch.setattr(regrade, "_check_problem", lambda *_: None)
    return folders


def first(bundles: list[Any], folder: Path) -> Any:
    return regrade.loaded_first(bundles, "problem", folder, 0.0)[1]


def test_bundle_with_the_result_of_another_does_not_hide_it(loads: list[Path], tmp_path: Path) -> None:
    forged: Any = BundleError("its result is about another capture")
    assert first([forged, "honest"], tmp_path) == "honest"
    assert not loads[0].exists()


def test_error_is_that_of_the_first_bundle_if_none_fits(loads: list[Path], tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="one"):
        first([BundleError("one"), BundleError("two")], tmp_path)
    assert len(loads) == 2


def test_timeout_ends_the_search(loads: list[Path], tmp_path: Path) -> None:
    with pytest.raises(BenchguardError, match="time-out"):
        first([BenchguardError("not read before the time-out"), "honest"], tmp_path)
    assert len(loads) == 1
