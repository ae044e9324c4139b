"""The start of a grade, before the judge and the submission run."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from benchguard.errors import BenchguardError
from benchguard.grade import run as module
from benchguard.grade.options import GradeOptions
from benchguard.grade.run import GradeRun
from benchguard.judge.contract import Ask, AskThrowaway
from benchguard.judge.process import JudgeProcess
from benchguard.toolchain.errors import ShimError


def test_grade_imports_before_the_sandbox_only_its_own_needs() -> None:
    """The rest is imported while the submission compiles."""
    names = {
        "numpy",
        "elftools",
        "rich",
        "importlib.metadata",
        "benchguard.archive.bundle",
        "benchguard.grade.result",
        "benchguard.quarantine.runner",
        "benchguard.replay.result",
    }
    program = f"import sys, benchguard.grade.grade\nprint(*sorted({names} & set(sys.modules)))\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


class Judge:
    """In place of the judge's process: notes what happens to it."""

    def __init__(self, events: list[str]) -> None:
        self._events = events

    def __call__(self, *_: Any, **__: Any) -> Judge:
        return self

    def __enter__(self) -> Judge:
        self._events.append("judge starts")
        return self

    def __exit__(self, *_: object) -> None:
        self._events.append("judge ends")

    def ask(self, question: Ask | AskThrowaway) -> None:
        self._events.append(f"judge gets {type(question).__name__}")


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The first steps of a grade whose driver has no shim, and for which none can be built."""
    events: list[str] = []

    def fail(*_: object) -> None:
        events.append("shim is looked for")
        raise ShimError("no shim")

    monkeypatch.setattr(module, "JudgeProcess", Judge(events))
    monkeypatch.setattr(module, "interposer_for", fail)
    return events


def grade(submission: Path, problem: str = "problem.py") -> None:
    submission.touch()
    with ExitStack() as stack:
        GradeRun(problem, submission, GradeOptions(driver="sim"), None, stack)


def test_judge_opens_the_problem_before_the_shim_is_looked_for(tmp_path: Path, events: list[str]) -> None:
    with pytest.raises(ShimError, match="no shim"):
        grade(tmp_path / "s.cu")
    assert events == [
        "judge starts",
        "judge gets Ask",
        "judge gets AskThrowaway",
        "shim is looked for",
        "judge ends",
    ]


def test_driver_error_ends_a_judge_that_opens_a_slow_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error comes at once, although the problem would take a minute."""
    problem, judges = tmp_path / "problem.py", []

    def fail(*_: object) -> None:
        raise ShimError("no shim")

    class Noted(JudgeProcess):
        def __enter__(self) -> JudgeProcess:
            judges.append(self)
            return super().__enter__()

    problem.write_text("import time\n\ntime.sleep(60)\n")
    monkeypatch.setattr(module, "JudgeProcess", Noted)
    monkeypatch.setattr(module, "interposer_for", fail)
    with pytest.raises(BenchguardError, match="no shim"):
        grade(tmp_path / "s.cu", str(problem))
    assert judges[0]._child.returncode == -9
