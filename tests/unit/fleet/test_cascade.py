"""The first stage of a cascade decides about wrong outputs, and about nothing else."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import get_args

import pytest

from benchguard.errors import BenchguardError, UsageError
from benchguard.fleet.cascade import CascadePlace, first_options
from benchguard.fleet.job import Job
from benchguard.fleet.order import Answer
from benchguard.grade.options import GradeOptions
from benchguard.grade.result import Verdict
from tests.support.results import graded_result

JOB = Job("0", "p.py", "s.cu", False, {"s.cu": b""})


@dataclass
class Stage:
    answer: Answer | None
    name: str = "stage"
    slots: int = 1
    seen: list[str] = field(default_factory=list)

    async def grade(self, job: Job) -> Answer:
        self.seen.append(job.id)
        if self.answer is None:
            raise BenchguardError("lost")
        return self.answer


def run(first: Answer | None) -> tuple[Answer, int]:
    """The answer, and the number of grades on the GPU."""
    final = Stage(Answer(graded_result("pass")))
    answer = asyncio.run(CascadePlace(Stage(first), final).grade(JOB))
    return answer, len(final.seen)


@pytest.mark.parametrize("verdict", [each for each in get_args(Verdict) if each != "wrong"])
def test_verdict_of_the_cpu_driver_goes_on_to_the_gpu(verdict: Verdict) -> None:
    answer, grades = run(Answer(graded_result(verdict)))
    assert (answer.stage, grades) == ("final", 1)
    assert answer.result is not None and answer.result.verdict == "pass"


def test_wrong_outputs_need_no_gpu() -> None:
    answer, grades = run(Answer(graded_result("wrong")))
    assert (answer.stage, grades) == ("cpu", 0)


@pytest.mark.parametrize("first", [None, Answer(trouble="no shim")])
def test_failed_first_stage_goes_on_to_the_gpu(first: Answer | None) -> None:
    assert run(first)[1] == 1


def test_first_stage_has_the_problems_options_and_none_of_the_timing() -> None:
    options = first_options(
        GradeOptions(entry="f", cases=("a",), samples=3000, cold="warm", cordon_device=True)
    )
    assert (options.driver, options.entry, options.cases) == ("sim", "f", ("a",))
    assert (options.samples, options.cold, options.cordon_device) == (8, None, False)


def test_cascade_that_ends_on_the_cpu_driver_is_refused() -> None:
    with pytest.raises(UsageError, match="a cascade ends on a GPU"):
        first_options(GradeOptions(driver="sim"))
