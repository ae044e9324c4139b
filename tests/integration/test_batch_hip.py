"""Submissions in HIP C++ in a fleet, on the CPU driver's HIP functions: a batch, grade_all, and rewards."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchguard.fleet.grading import grade_all
from benchguard.fleet.job import Source
from benchguard.fleet.service import GradeService
from benchguard.grade.options import GradeOptions
from benchguard.grade.vendor import can_grade_hip
from benchguard.rewards.response import Code
from benchguard.rewards.rewarder import Rewarder, RewardTask
from tests.conftest import ROOT
from tests.support.mixed import HONEST, PROBLEM

KERNEL = ROOT / "examples" / "problems" / "submissions" / "vector_add" / "kernel.hip"
RIGHT = KERNEL.read_text()
WRONG = RIGHT.replace("a[i] +", "a[i] -")
BROKEN = RIGHT.replace("a[i] +", "a[i] missing")
EXPECTED = {"right": "pass", "wrong": "wrong", "broken": "failed"}

pytestmark = pytest.mark.skipif(
    not can_grade_hip(), reason="libcuda-over-hip.so is not built: no HIP headers"
)


def rows(*more: dict[str, str]) -> str:
    sources = {"right": RIGHT, "wrong": WRONG, "broken": BROKEN}
    own = [{"id": name, "source": text, "language": "hip"} for name, text in sources.items()]
    return "".join(json.dumps(row) + "\n" for row in [*own, *more])


def batch(folder: Path, driver: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "benchguard", "batch", "--problem", str(PROBLEM), "--driver", driver]
    words += [
        "--samples",
        "8",
        "--case",
        "small",
        "--results",
        str(folder / "r.jsonl"),
        str(folder / "s.jsonl"),
    ]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)


def test_batch_on_the_cpu_driver_grades_both_vendors(tmp_path: Path) -> None:
    assert WRONG != RIGHT != BROKEN
    (tmp_path / "s.jsonl").write_text(rows({"id": "ptx", "source": HONEST, "language": "ptx"}))
    done = batch(tmp_path, "sim")
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert {each["id"]: each["verdict"] for each in found} == {**EXPECTED, "ptx": "pass"}
    languages = {each["id"]: each["result"]["submission"]["language"] for each in found}
    assert languages == {**dict.fromkeys(EXPECTED, "hip"), "ptx": "ptx"}


def test_batch_on_a_hip_driver_refuses_other_submissions_before_it_grades(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text(rows({"id": "ptx", "source": HONEST, "language": "ptx"}))
    done = batch(tmp_path, "hip-sim")
    assert done.returncode == 2 and "line 4: a submission in CUDA, PTX or Python" in done.stderr
    assert not (tmp_path / "r.jsonl").exists()


def test_grade_all_grades_hip_on_a_hip_driver() -> None:
    submissions = {"right": KERNEL, "wrong": Source(WRONG, "hip")}
    options = GradeOptions(driver="hip-sim", cases=("small",), samples=8)
    graded = {each.id: each.result for each in grade_all(PROBLEM, submissions, options)}
    assert {name: found.verdict for name, found in graded.items() if found} == {
        "right": "pass",
        "wrong": "wrong",
    }


def test_pass_in_hip_has_a_reward_and_a_wrong_answer_none() -> None:
    options = GradeOptions(driver="hip-sim", cases=("small",), samples=8)
    with GradeService([str(PROBLEM)], options) as service:
        assert service.languages == {"hip"}
        rewarder = Rewarder(
            {"add": RewardTask(str(PROBLEM))},
            lambda problem, code: service.grade(problem, Source(code.source, code.language)),
            languages=service.languages,
        )
        passed = rewarder.of_response("add", f"```hip\n{RIGHT}```\n")
        wrong = rewarder.of_code("add", Code(WRONG, "hip"))
    assert (passed.verdict, wrong.verdict) == ("pass", "wrong")
    assert passed.score is not None and wrong.score is not None and passed.score > wrong.score
