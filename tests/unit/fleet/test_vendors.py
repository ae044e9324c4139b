"""A fleet grades submissions for the vendor of its driver, whatever languages they name."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from benchguard.errors import UsageError
from benchguard.fleet import vendors
from benchguard.fleet.grading import grade_all
from benchguard.fleet.job import Source
from benchguard.fleet.vendors import apis_of, languages_of
from benchguard.grade.options import GradeOptions
from tests.support.mixed import PROBLEM


@pytest.mark.parametrize(
    ("is_sim", "api", "is_built", "expected"),
    [
        (False, "cuda", True, {"cuda"}),
        (False, "hip", True, {"hip"}),
        (True, "hip", True, {"hip"}),
        (True, "cuda", True, {"cuda", "hip"}),
        (True, "cuda", False, {"cuda"}),
    ],
)
def test_vendors_are_those_of_the_driver(
    monkeypatch: pytest.MonkeyPatch,
    is_sim: bool,
    api: str,
    is_built: bool,
    expected: set[str],
) -> None:
    """No submission moves from a GPU to the CPU driver by its language."""
    monkeypatch.setattr(vendors, "discover", lambda _: SimpleNamespace(is_sim=is_sim, api=api))
    monkeypatch.setattr(vendors, "can_grade_hip", lambda: is_built)
    found = apis_of(GradeOptions(), "local")
    assert found == expected
    assert ("hip" in languages_of(found)) == ("hip" in expected)


def test_hip_driver_with_the_engine_ray_is_refused() -> None:
    assert apis_of(GradeOptions(driver="sim"), "ray") == {"cuda"}
    with pytest.raises(UsageError, match="use the engine local for HIP"):
        apis_of(GradeOptions(driver="hip-sim"), "ray")


@pytest.mark.parametrize("driver", ["hip-sim", "sim"])
def test_grade_all_refuses_a_submission_for_another_driver_before_it_runs(
    driver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = "hip" if driver == "hip-sim" else "cuda"
    monkeypatch.setattr("benchguard.fleet.grading.apis_of", lambda *_: frozenset({ours}))
    monkeypatch.setattr("benchguard.grade.vendor.HIP_BRIDGE", Path(__file__))
    monkeypatch.setattr("benchguard.fleet.local.discover", lambda *_: SimpleNamespace(is_sim=True, api=ours))
    other = Source("s", "ptx" if ours == "hip" else "hip")
    with pytest.raises(UsageError, match="cannot be graded on --driver"):
        list(grade_all(PROBLEM, [other], GradeOptions(driver=driver)))
