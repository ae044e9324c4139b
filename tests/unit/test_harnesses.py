"""tests/device/harnesses.py: what it tells a suite's harness, and what it reads of the harness's answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.device import harnesses
from tests.device.harnesses import by_suite, job_of, main, timed
from tests.device.pairs import Pair

EVAL = """\
import os
import sys

from reference import FACTOR
from submission import custom_kernel

mode, cases = sys.argv[1:]
with os.fdopen(int(os.environ["POPCORN_FD"]), "w") as file:
    for number, line in enumerate(open(cases).read().splitlines()):
        print(f"{mode}.{number}.spec: {line}", file=file)
        print(f"{mode}.{number}.mean: {custom_kernel(len(line)) * FACTOR}", file=file)
"""
TASK = """\
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: reference.py, source: reference.py}
  - {name: eval.py, source: ../eval.py}
config: {main: eval.py}
tests: [{size: 1}]
benchmarks: [{size: 1}, {size: 12345, seed: 7}]
"""
PYGPUBENCH = """\
import dataclasses
import importlib


@dataclasses.dataclass
class Result:
    time_us: list


@dataclasses.dataclass
class Stats:
    mean: float


def do_bench_isolated(name, generator, arguments, repeats, seed, **options):
    module, _, function = name.rpartition(".")
    call = getattr(importlib.import_module(module), function)
    return Result([call(generator(seed=seed, **arguments))] * repeats)


def basic_stats(times):
    return Stats(sum(times) / len(times))
"""


def gpumode_pair(folder: Path, submission: str) -> Pair:
    (folder / "task").mkdir()
    (folder / "eval.py").write_text(EVAL)
    (folder / "task" / "task.yml").write_text(TASK)
    (folder / "task" / "reference.py").write_text("FACTOR = 1000\n")
    (folder / "answer.py").write_text(submission)
    return Pair("one", "gpumode", "task", "answer.py", {"case": ["test.0", "benchmark.1"], "samples": 60})


def test_only_cases_that_a_harness_times_are_graded_without_a_number_of_samples() -> None:
    pair = Pair("one", "gpumode", "task", "answer.py", {"case": ["test.0", "benchmark.1"], "samples": 60})
    assert timed(pair).options == {"case": ["benchmark.1"]}
    assert timed(Pair("two", "gpumode", "task", "answer.py", {"case": "test.0"})).options["case"] == [
        "benchmark.0"
    ]
    assert timed(Pair("three", "kernelbench", "a.py", "b.py", {"samples": 9})).options == {}


def test_eval_py_runs_beside_the_files_of_its_task(tmp_path: Path) -> None:
    pair = timed(gpumode_pair(tmp_path, "custom_kernel = float\n"))
    times, text = by_suite("gpumode", job_of(pair, tmp_path, tmp_path / "answer.py", {}), 120)
    assert times == {"benchmark.1": float(len("size: 12345; seed: 7"))}
    assert text == ""


def test_failed_harness_leaves_its_text(tmp_path: Path) -> None:
    pair = timed(gpumode_pair(tmp_path, "raise ValueError('no such thing')\n"))
    times, text = by_suite("gpumode", job_of(pair, tmp_path, tmp_path / "answer.py", {}), 120)
    assert times == {}
    assert "eval.py exited with 1" in text


def test_pygpubench_imports_generator_and_submission_by_name(tmp_path: Path) -> None:
    for name, text in (
        ("library/pygpubench.py", PYGPUBENCH),
        ("problem.py", "def case(size, seed):\n    return size\n"),
        ("answers/answer.py", "def kernel(size):\n    return 2.0 * size\n"),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    options = {"entry": "kernel", "adapter_option": [f"arguments={json.dumps({'size': 8})}"]}
    pair = Pair("one", "pygpubench", "problem.py:case", "answers/answer.py", options)
    settings = {"pygpubench": {"path": str(tmp_path / "library")}}
    job = job_of(pair, tmp_path, tmp_path / "answers" / "answer.py", settings)
    assert by_suite("pygpubench", job, 120)[0] == {"case": 16.0}


def test_pairs_of_other_forms_are_not_chosen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = {"id": "one", "form": "leetgpu", "problem": "p", "submission": "s"}
    (tmp_path / "manifest.jsonl").write_text(json.dumps(entry) + "\n")
    assert main([str(tmp_path), str(tmp_path)]) == 2
    assert "no pair is chosen" in capsys.readouterr().err
    (tmp_path / "manifest.jsonl").write_text(json.dumps({**entry, "form": "gpumode"}) + "\n")
    monkeypatch.setattr(harnesses, "no_gpu", lambda: "no GPU driver found")
    assert main([str(tmp_path), str(tmp_path)]) == 0
    assert "skipped: no GPU driver found" in capsys.readouterr().err
