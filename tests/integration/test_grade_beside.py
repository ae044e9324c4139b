"""The second grade of a comparison, in a process of its own, on the CPU driver."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

import benchguard
from benchguard.errors import BenchguardError, UsageError
from benchguard.grade import compare
from benchguard.grade.beside import GradeBeside
from benchguard.grade.grade import grade_beside
from benchguard.grade.options import GradeOptions
from benchguard.grade.result import GradeResult
from benchguard.ipc.lock_file import FOLDER
from benchguard.ipc.processes import living_descendants, process_start
from benchguard.problem.errors import ProblemError

ROOT = Path(__file__).parents[2]
PROBLEM = ROOT / "examples" / "problems" / "vector_add.py"
SUBMISSION = ROOT / "examples" / "problems" / "submissions" / "vector_add" / "kernel.ptx"
OPTIONS = GradeOptions(driver="sim", cases=("small",), samples=5)


def beside(
    folder: Path, problem: Path = PROBLEM, submission: Path = SUBMISSION, **changes: object
) -> GradeBeside:
    options = GradeOptions(**{**OPTIONS.changed(), "keep": folder, **changes})
    return GradeBeside(str(problem), str(submission), [str(submission)], options)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tmp_path.chmod(0o700)
    return tmp_path / "kept"


def test_grade_in_another_process_has_a_result_and_keeps_its_captures(folder: Path) -> None:
    with beside(folder) as other:
        result = other.result()
    assert (result.verdict, result.cases[0].name) == ("pass", "small")
    assert len(list(folder.glob("*.ncap"))) == 2


def test_exception_of_the_other_process_is_raised_with_its_kind(folder: Path, tmp_path: Path) -> None:
    broken = tmp_path / "problem.py"
    broken.write_text("raise ValueError('no problem')\n")
    with beside(folder, broken) as other, pytest.raises(ProblemError, match="no problem"):
        other.result()
    with beside(folder, cases=("none",)) as other, pytest.raises(UsageError, match="no case 'none'"):
        other.result()


def test_process_that_is_killed_is_an_error_in_one_line(folder: Path) -> None:
    with beside(folder) as other:
        child = other._child.pid
        threading.Timer(1.0, os.kill, (child, signal.SIGKILL)).start()
        with pytest.raises(BenchguardError, match="ended without an answer"):
            other.result()


def test_process_that_cannot_start_is_an_error_with_its_cause(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(subprocess, "Popen", refuse)
    with pytest.raises(BenchguardError, match="cannot start the process of the second grade: Resource"):
        beside(folder).__enter__()


def test_grade_that_is_not_waited_for_ends_at_once(folder: Path) -> None:
    began = time.monotonic()
    with beside(folder) as other:
        time.sleep(2)
        child = other._child.pid
    assert process_start(child) is None and not living_descendants()
    assert time.monotonic() - began < 12


@pytest.mark.parametrize("side", [0, 1])
def test_side_that_is_wrong_is_named_when_both_are_graded_at_once(
    side: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))  # with it the CPU driver takes turns, as a GPU does
    wrong = tmp_path / "wrong.ptx"
    wrong.write_text(SUBMISSION.read_text().replace("add.f32", "sub.f32"))
    sides = [SUBMISSION, SUBMISSION]
    sides[side] = wrong
    result = benchguard.compare(PROBLEM, *sides, OPTIONS, blocks=3)
    assert (result.call, result.verdict) == (None, "wrong")
    assert result.reason.startswith(f"{'AB'[side]} ({wrong}) did not pass")


@pytest.mark.parametrize(
    ("verdict", "again"), [("timeout", True), ("failed", True), ("wrong", True), ("violation", False)]
)
def test_side_that_the_other_may_have_slowed_is_graded_again_alone(
    verdict: str, again: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    grades: list[GradeResult] = []

    def graded(*arguments: Any) -> GradeResult:
        found = grade_beside(*arguments)
        grades.append(found if grades else msgspec.structs.replace(found, verdict=verdict, reason="load"))
        return grades[-1]

    monkeypatch.setattr(compare, "grade_beside", graded)
    result = benchguard.compare(PROBLEM, SUBMISSION, SUBMISSION, OPTIONS, blocks=3)
    assert (result.verdict, result.call is not None) == (("pass", True) if again else (verdict, False))
    assert len(grades) == (3 if again else 1)  # A, A again, B


def test_sides_are_graded_one_after_the_other_where_memory_is_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    monkeypatch.setattr(compare, "available_bytes", lambda: 1 << 16)
    monkeypatch.delattr(GradeBeside, "__enter__")
    result = benchguard.compare(PROBLEM, SUBMISSION, SUBMISSION, OPTIONS, blocks=3)
    assert result.verdict == "pass" and (result.a.verdict, result.b.verdict) == ("pass", "pass")


def test_sides_that_were_graded_at_once_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    phases: list[str] = []
    result = benchguard.compare(
        PROBLEM, SUBMISSION, SUBMISSION, OPTIONS, blocks=3, progress=lambda each: phases.append(each.phase)
    )
    assert result.verdict == "pass" and result.call is not None and "grading B" in phases
    assert result.cases[0].samples == 60
