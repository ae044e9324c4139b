"""The clock of a grade: time that passes before the submission runs is not the submission's."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from benchguard.errors import BenchguardError
from benchguard.grade import run as module
from benchguard.grade.options import GradeOptions
from benchguard.grade.run import GradeRun
from tests.unit.grade.test_quarantined import ended

SECONDS = 20.0


class Clock:
    """Stands in for the module time."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that only the test moves. Building the shim takes two time-outs."""
    clock = Clock()

    def build(*_: Any) -> tuple[str, str, bool]:
        clock.now += 2 * SECONDS
        return "interposer", "", True

    monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(module, "interposer_for", build)
    return clock


def run_of(stack: ExitStack, began: float | None = None) -> GradeRun:
    options = GradeOptions(driver="sim", timeout=SECONDS)
    return GradeRun("problem.py", Path("submission.ptx"), options, None, stack, began=began)


@pytest.mark.usefixtures("clock")
def test_build_of_the_shim_takes_no_time_of_the_grade(native: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (native / "sim").is_dir()
    monkeypatch.setattr(GradeRun, "api", lambda _: "cuda")
    with ExitStack() as stack:
        assert run_of(stack).left() == SECONDS


def test_start_of_a_command_takes_time_of_the_grade_and_the_build_does_not(
    clock: Clock, native: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (native / "sim").is_dir()
    monkeypatch.setattr(GradeRun, "api", lambda _: "cuda")
    with ExitStack() as stack:
        assert run_of(stack, began=clock.now - 3).left() == SECONDS - 3


@pytest.mark.parametrize(("opening", "blamed"), [(0.4, True), (0.6, False), (1.5, False)])
def test_submission_is_not_blamed_for_the_time_that_the_problem_took(
    opening: float, blamed: bool, clock: Clock, native: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (native / "sim").is_dir()
    monkeypatch.setattr(GradeRun, "api", lambda _: "cuda")
    monkeypatch.setattr(module, "quarantine", lambda *_, **__: ended(timed_out=True))
    problem: Any = type("Opening", (), {"find": None, "name_of": None})()
    submission: Any = None
    with ExitStack() as stack:
        run = run_of(stack)
        monkeypatch.setattr(run, "_files", lambda _: {})
        clock.now += opening * SECONDS
        if blamed:
            assert run.quarantine(submission, problem).timed_out
            return
        with pytest.raises(
            BenchguardError, match=f"opening the problem took {opening * SECONDS:.0f} s of a time-out of 20 s"
        ):
            run.quarantine(submission, problem)
