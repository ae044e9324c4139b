"""The local engine on the CPU driver: child processes, verdicts, and a caller that stops early."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from benchguard.errors import BenchguardError, UsageError
from benchguard.fleet import child
from benchguard.fleet.cascade import CascadePlace, first_options
from benchguard.fleet.child import grade_in_child
from benchguard.fleet.grading import grade_all
from benchguard.fleet.job import Source, job_of
from benchguard.fleet.local import LocalPlace
from benchguard.fleet.order import order_bytes, parse_answer
from benchguard.fleet.service import GradeService
from benchguard.grade.options import GradeOptions
from benchguard.ipc.processes import living_descendants
from tests.support.mixed import HONEST, KINDS, OPTIONS, PROBLEM, mixed, unexpected


def test_every_kind_of_submission_has_its_verdict(native: Path) -> None:
    assert (native / "sim").is_dir()
    graded = list(grade_all(PROBLEM, mixed(6), GradeOptions(**OPTIONS)))
    assert len(graded) == 6
    assert unexpected(graded) == []


def test_caller_that_stops_early_leaves_no_process(native: Path) -> None:
    assert (native / "sim").is_dir()
    hanging = {"a": KINDS["honest"][1], "b": KINDS["hangs"][1], "c": KINDS["hangs"][1]}
    before = set(living_descendants())
    began = time.monotonic()
    for graded in grade_all(PROBLEM, hanging, GradeOptions(**OPTIONS | {"timeout": 600.0})):
        assert graded.id == "a"
        break
    assert time.monotonic() - began < 200
    assert set(living_descendants()) <= before


def test_service_grades_the_texts_of_its_problems(native: Path) -> None:
    assert (native / "sim").is_dir()
    with GradeService([str(PROBLEM)], GradeOptions(**OPTIONS)) as service:
        assert service.grade(str(PROBLEM), Source(HONEST, "ptx")).verdict == "pass"


def test_cascade_decides_wrong_outputs_on_the_cpu_driver(native: Path) -> None:
    """The second stage is the CPU driver, too, with other samples. PTX that the CPU driver refuses goes on."""
    assert (native / "sim").is_dir()
    first = first_options(GradeOptions())
    place = CascadePlace(LocalPlace(first), LocalPlace(GradeOptions(driver="sim", samples=10)))
    answers = {
        kind: asyncio.run(place.grade(job_of(kind, str(PROBLEM), KINDS[kind][1])))
        for kind in ("honest", "wrong", "broken")
    }
    results = {kind: answer.result for kind, answer in answers.items()}
    assert {kind: result.verdict for kind, result in results.items() if result} == {
        "honest": "pass",
        "wrong": "wrong",
        "broken": "failed",
    }
    assert {kind: answer.stage for kind, answer in answers.items()} == {
        "honest": "final",
        "wrong": "cpu",
        "broken": "final",
    }
    honest = results["honest"]
    assert honest is not None and len(honest.cases[0].samples) == 10


def test_place_of_a_gpu_shows_its_grades_that_gpu_only(tmp_path: Path, native: Path) -> None:
    assert (native / "sim").is_dir()
    (tmp_path / "p.py").write_text("import os\nraise RuntimeError(os.environ['CUDA_VISIBLE_DEVICES'])\n")
    place = LocalPlace(GradeOptions(driver="sim"), environment={"CUDA_VISIBLE_DEVICES": "GPU-a"})
    answer = asyncio.run(place.grade(job_of("0", str(tmp_path / "p.py"), Source(HONEST, "ptx"))))
    assert "GPU-a" in answer.trouble


def test_problem_that_fails_is_no_verdict(tmp_path: Path, native: Path) -> None:
    assert (native / "sim").is_dir()
    (tmp_path / "p.py").write_text("print('{}')\nraise RuntimeError('broken problem')\n")
    order = order_bytes(
        job_of("0", str(tmp_path / "p.py"), Source(HONEST, "ptx")), GradeOptions(driver="sim", samples=8)
    )
    answer = parse_answer(asyncio.run(grade_in_child(order)))
    assert answer.result is None and "broken problem" in answer.trouble


@pytest.mark.quick
def test_process_without_an_answer_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    order = order_bytes(job_of("0", str(PROBLEM), Source(HONEST, "ptx")), GradeOptions(driver="sim"))
    monkeypatch.setattr(child, "_GRADE", "sys.exit('a reason')")
    with pytest.raises(BenchguardError, match=r"without an answer: .*a reason"):
        asyncio.run(grade_in_child(order))
    monkeypatch.setattr(child, "ANSWER_MAX", 1000)
    monkeypatch.setattr(child, "_GRADE", "print('x' * 5000)")
    with pytest.raises(BenchguardError, match="is too long"):
        asyncio.run(grade_in_child(order))


@pytest.mark.quick
def test_options_that_do_not_fit_are_refused_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text("raise SystemExit('the problem was imported')\n")
    for settings, message in (
        ({"engine": "mpi"}, "unknown engine 'mpi'"),
        ({"address": "auto"}, "address is for the engine ray"),
        ({"attempts": 0}, "attempts is 0"),
        ({"cascade": True, "driver": "sim"}, "a cascade ends on a GPU"),
        ({"timeout": 0}, "timeout is 0"),
    ):
        with pytest.raises(UsageError, match=message):
            list(grade_all(tmp_path / "p.py", [], **settings))
    with pytest.raises(UsageError, match="does not exist"):
        list(grade_all(tmp_path / "absent.py", []))
