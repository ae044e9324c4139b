"""A submission cannot read what an earlier grade left."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attacks.catalogue import ATTACKS
from tests.attacks.running import Machine, grade

SIM = Machine("sim", seconds=200)


@pytest.fixture
def libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that submissions can read."""
    found = tmp_path / "libraries"
    found.mkdir()
    for each in (found, tmp_path, tmp_path.parent):
        each.chmod(0o755)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(found))
    return found


def test_temporary_folder_of_earlier_grade_is_unreadable(
    libraries: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = libraries / "temporary" / "neutrino-grade-earlier"
    earlier.mkdir(parents=True)
    (earlier / "audit.jsonl").write_text("OF AN EARLIER GRADE")
    monkeypatch.setenv("TMPDIR", str(earlier.parent))
    found = grade(ATTACKS / "36_archaeology.py", "Mix", SIM, "small")
    assert (found.verdict, found.whole["output"]) == ("pass", "")


@pytest.mark.quick
def test_kept_folder_that_submissions_can_read_is_refused(libraries: Path) -> None:
    kept = libraries / "kept"
    found = grade(ATTACKS / "36_archaeology.py", "Mix", SIM, "small", ("--keep", str(kept)))
    assert (found.verdict, found.status) == ("none", 2)
    assert found.reason == (
        f"neutrino-bench: error: {kept} lies in {libraries}, which submissions can read: a later one could read "
        "what this grade leaves; name another folder"
    )
    assert not kept.exists()
