"""A comparison whose captures another program swaps gives no result with the roles inverted."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchguard import BenchguardError, compare
from benchguard.grade.progress import GradeProgress
from tests.attacks.catalogue import HONEST, KIT, PROBLEMS


@pytest.fixture
def sides(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """Two honest submissions."""
    for name in ("mix", "streams"):
        shutil.copytree(KIT, tmp_path / name)
        shutil.copy(HONEST / f"{name}.py", tmp_path / name / "submission.py")
    yield tmp_path / "mix", tmp_path / "streams"


def test_captures_swapped_during_comparison_refused(tmp_path: Path, sides: tuple[Path, Path]) -> None:
    kept = tmp_path / "kept"

    def swap(progress: GradeProgress) -> None:
        if not progress.phase.startswith("block 2"):
            return
        for one in (kept / "a").glob("*.ncap"):
            other = kept / "b" / one.name
            one.rename(tmp_path / "moved")
            other.rename(one)
            (tmp_path / "moved").rename(other)

    options = {"driver": "sim", "cases": ("small",), "cold": "none", "samples": 14, "keep": kept}
    with pytest.raises(BenchguardError, match=r"kept/a/case-0-.\.ncap was replaced while it was compared"):
        compare(f"{PROBLEMS}:Mix", *sides, blocks=3, progress=swap, **options)
