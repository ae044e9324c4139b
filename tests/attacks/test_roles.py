"""A comparison whose captures another program swaps gives no result with the roles inverted."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchguard import BenchguardError, compare
from benchguard.grade.progress import GradeProgress
from tests.attacks.catalogue import HONEST, KIT

PROBLEM = """
try:
    import streams
except ImportError:
    from tests.attacks import problems
class Mine(problems.Mix):
    pass
"""


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    """Two honest submissions."""
    for name in ("mix", "streams"):
        shutil.copytree(KIT, tmp_path / name)
        shutil.copy(HONEST / f"{name}.py", tmp_path / name / "submission.py")
    return tmp_path / "mix", tmp_path / "streams"


def test_captures_swapped_during_comparison_refused(tmp_path: Path, sides: tuple[Path, Path]) -> None:
    """The problem lies beside the submissions, and imports the name of one. The import would end both grades."""
    kept = tmp_path / "kept"
    (tmp_path / "problem.py").write_text(PROBLEM)
    (sides[1] / "__init__.py").write_text("raise SystemExit\n")

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
        compare(tmp_path / "problem.py", *sides, blocks=3, progress=swap, **options)
