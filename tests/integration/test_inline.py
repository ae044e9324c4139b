"""Submissions timed inline in a real quarantine, on inputs that the judge made."""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack
from pathlib import Path

import pytest

from benchguard.inline.contract import InlineCase
from benchguard.inline.result import GUARDS, InlineResult
from benchguard.inline.supervise import Inline
from benchguard.judge.contract import (
    Ask,
    AskExpected,
    AskSecrets,
    AskThrowaway,
    Expected,
    Opened,
    Secrets,
    Throwaway,
)
from benchguard.judge.process import JudgeProcess
from benchguard.quarantine.contract import Cases, Quarantined
from benchguard.quarantine.quarantine import quarantine
from benchguard.quarantine.submission import submission_of
from benchguard.shim.interposer import interposer_for
from tests.conftest import ROOT

PROBLEMS = ROOT / "examples" / "problems"
SAMPLES = 4
pytestmark = pytest.mark.usefixtures("native")


def graded(
    folder: Path, problem: Path, submission: Path
) -> tuple[Quarantined, tuple[InlineResult | str, ...]]:
    """A small version of `grade --inline`: the first case only."""
    with ExitStack() as stack:
        judge = stack.enter_context(JudgeProcess(timeout=120))
        judge.ask(Ask(str(problem), "problem", sets_max=SAMPLES + 1, one_use=0))
        judge.ask(AskThrowaway())
        opened, _ = judge.answer(Opened)
        throwaway, (inputs, *_) = judge.answer(Throwaway)
        judge.ask(AskSecrets(0))
        judge.ask(AskExpected(0))
        secrets, ends = judge.answer(Secrets)
        expected, (wanted, *_) = judge.answer(Expected)
        for each in (inputs, wanted, *ends):
            stack.callback(os.close, each)
        case = InlineCase(
            ends[0], wanted, secrets.inputs, expected.outputs, secrets.sets, dict(opened.tolerances[0])
        )
        inline = stack.enter_context(Inline([case], SAMPLES))
        found = quarantine(
            submission_of(submission, None, opened.entry, opened.convention),  # type: ignore[arg-type]
            lambda: Cases(opened.cases[:1], throwaway.layouts[:1], throwaway.offsets[:1], inputs),
            interposer=interposer_for("sim")[0],
            folder=folder,
            timeout=240,
            memory_bytes=4 << 30,
            hidden=(str(problem.parent),),
            inline=inline,
        )
        return found, inline.results()


@pytest.mark.parametrize(
    "name",
    [
        "vector_add/kernel.ptx",
        "grayscale/numba_kernel.py",
        "softmax/cuda.cu",
        "argmax/cuda.cu",
        "adam/cuda.cu",
    ],
)
def test_example_passes_inline(tmp_path: Path, name: str) -> None:
    """PTX, Python and CUDA C++; one output, several, in place."""
    submission = PROBLEMS / "submissions" / name
    if submission.suffix == ".cu" and shutil.which("nvcc") is None:
        pytest.skip("no nvcc here")
    found, results = graded(tmp_path, PROBLEMS / f"{submission.parent.name}.py", submission)
    assert found.broke is None and not found.trouble, (found.broke, found.trouble, found.output)
    (result,) = results
    assert isinstance(result, InlineResult), (result, found.output)
    assert result.correct and result.full and not result.altered, result
    assert found.captures == () and result.attempts == ()
    assert GUARDS[1] not in result.arena and GUARDS[2] not in result.arena, (
        "the quarantine's filter leaves room for ours"
    )


def test_wrong_answer_is_wrong_inline(tmp_path: Path) -> None:
    submission = tmp_path / "wrong.py"
    submission.write_text("def solution(*arguments): ...\n")
    folder = tmp_path / "out"
    folder.mkdir()
    found, (result,) = graded(folder, PROBLEMS / "vector_add.py", submission)
    assert isinstance(result, InlineResult), (result, found)
    assert not result.correct and result.full and all(result.errors)
