"""Traces of flashinfer-bench as claims: which own grade belongs to each, and what contradicts it. Hostile files."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from benchguard.cli.main import cli
from benchguard.errors import UsageError
from benchguard.grade.result import GradeResult, Source, Verdict
from benchguard.quarantine.submission import hash_of_contents, submission_of
from benchguard.report.flashinfer_claims import is_confirmed, read_claims
from benchguard.report.flashinfer_solutions import read_solutions
from benchguard.report.flashinfer_trace import traces_of
from benchguard.report.stored_results import stored_results
from tests.support.results import graded_result

WORKLOAD = {"axes": {"m": 128, "n": 4}, "inputs": {"a": {"type": "random"}}, "uuid": "0b5b"}


def trace(status: str = "PASSED", latency_ms: Any = 0.02, **changes: Any) -> dict[str, Any]:
    """A Trace as flashinfer-bench writes it."""
    evaluation: dict[str, Any] = {
        "status": status,
        "environment": {"hardware": "NVIDIA_H100", "libs": {"torch": "2.6.0"}},
        "timestamp": "2025-06-27T12:45:00Z",
        "log": "",
        "correctness": {"max_relative_error": "NaN", "max_absolute_error": 0.0, "extra": None},
        "performance": {"latency_ms": latency_ms, "reference_latency_ms": 0.1, "speedup_factor": 5.0},
    }
    if status != "PASSED":
        evaluation["performance"] = None
    return {
        "definition": "gemm",
        "workload": WORKLOAD,
        "solution": "mine_v1",
        "evaluation": evaluation,
        **changes,
    }


def written(path: Path, *traces: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in traces), encoding="utf-8")
    return path


def own(verdict: Verdict = "pass", median: float = 10.0, **params: str) -> GradeResult:
    result = replace(graded_result(verdict, (median,)), problem="gemm")
    return replace(
        result, cases=(replace(result.cases[0], params=params or {"m": "128", "n": "4", "dtype": "f16"}),)
    )


def test_trace_without_own_grade_is_shown_as_it_was_written(tmp_path: Path) -> None:
    empty = trace(solution=None, evaluation=None)
    found = read_claims([written(tmp_path / "t.jsonl", trace(), empty)])
    [claim] = found.claims
    assert (claim.solution, claim.status, claim.hardware, claim.latency_us) == (
        "mine_v1",
        "PASSED",
        "NVIDIA_H100",
        20.0,
    )
    assert claim.axes == WORKLOAD["axes"] and claim.agrees is None and is_confirmed(claim, 1.0)
    assert found.workloads == 1


@pytest.mark.parametrize(
    ("status", "verdict", "agrees"),
    [
        ("PASSED", "pass", True),
        ("PASSED", "wrong", False),
        ("PASSED", "violation", False),
        ("PASSED", "unconverged", None),
        ("PASSED", "error", None),
        ("INCORRECT_NUMERICAL", "wrong", True),
        ("COMPILE_ERROR", "pass", False),
    ],
)
def test_own_verdict_contradicts_a_claim_of_the_other_kind(
    status: str, verdict: Verdict, agrees: bool | None, tmp_path: Path
) -> None:
    path = written(tmp_path / "t.jsonl", trace(status))
    [claim] = read_claims([path], [("mine_v1.cu", own(verdict))]).claims
    assert (claim.verdict, claim.agrees) == (verdict, agrees)
    assert is_confirmed(claim, None) == (agrees is not False)


@pytest.mark.parametrize(("within", "confirmed"), [(None, True), (3.0, True), (1.5, False)])
def test_times_decide_only_if_a_ratio_is_given(within: float | None, confirmed: bool, tmp_path: Path) -> None:
    path = written(tmp_path / "t.jsonl", trace())
    [claim] = read_claims([path], [("mine_v1", own())]).claims
    assert claim.ratio == pytest.approx(0.5)
    assert is_confirmed(claim, within) == confirmed


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("other.cu", {"m": "128", "n": "4"}),
        ("mine_v1.5", {"m": "128", "n": "4"}),
        ("mine_v1", {"m": "129", "n": "4"}),
        ("mine_v1", {"m": "128"}),
    ],
)
def test_grade_of_another_solution_or_size_belongs_to_no_claim(
    name: str, params: dict[str, str], tmp_path: Path
) -> None:
    [claim] = read_claims([written(tmp_path / "t.jsonl", trace())], [(name, own("wrong", **params))]).claims
    assert claim.verdict is None and is_confirmed(claim, 1.0)


def solution_file(path: Path, contents: dict[str, str], **changes: Any) -> Path:
    """A Solution as flashinfer-bench writes it."""
    document = {
        "name": "mine_v1",
        "definition": "gemm",
        "author": "someone",
        "spec": {"language": "cuda", "target_hardware": ["H100"], "entry_point": "kernel.cu::run"},
        "sources": [{"path": name, "content": content} for name, content in contents.items()],
    }
    path.write_text(json.dumps({**document, **changes}), encoding="utf-8")
    return path


@pytest.mark.parametrize("as_folder", [False, True])
@pytest.mark.parametrize("content", ["int kernel;\n", "int other;\n"])
def test_solution_decides_by_content_whose_grade_a_grade_is(
    content: str, as_folder: bool, tmp_path: Path
) -> None:
    sources = {"kernel.cu": content, "kernel.h": "#pragma once // \u00e4\n"}
    folder = tmp_path / "any_name"
    folder.mkdir()
    for name, text in sources.items():
        (folder / name).write_text(text, encoding="utf-8")
    submission = submission_of(folder if as_folder else folder / "kernel.cu", None, None, "arguments")
    grade = replace(own("wrong"), submission=Source(str(submission.path), "cuda", "run", submission.sha256))
    solution = solution_file(tmp_path / "s.json", {**sources, "kernel.cu": "int kernel;\n"})
    solutions = read_solutions([solution], hash_of_contents)
    for name in ("any_name", "mine_v1.cu"):
        [claim] = read_claims([written(tmp_path / "t.jsonl", trace())], [(name, grade)], solutions).claims
        assert (claim.verdict == "wrong") == (content == "int kernel;\n")


@pytest.mark.parametrize(
    "changes", [{"sources": []}, {"name": ""}, {"spec": {}}, {"sources": [{"path": "x"}]}, {"definition": 3}]
)
def test_file_that_is_no_solution_is_refused(changes: dict[str, Any], tmp_path: Path) -> None:
    path = solution_file(tmp_path / "s.json", {"k.cu": ""}, **changes)
    with pytest.raises(UsageError, match=r"s\.json: not a Solution of flashinfer-bench"):
        read_solutions([path], hash_of_contents)


def test_exported_result_is_confirmed_by_itself(tmp_path: Path) -> None:
    """Two test cases of the same integers have ids of their own."""
    result = graded_result(medians=(10.0, 30.0))
    path = written(tmp_path / "t.jsonl", *traces_of(result, "a.cu", "2026-11-24T00:00:00+00:00"))
    claims = read_claims([path], [("a.cu", result)]).claims
    assert [claim.ratio for claim in claims] == [1.0, 1.0]
    assert all(claim.agrees for claim in claims)


@pytest.mark.parametrize("latency", [0, 0.0])
def test_time_of_zero_is_unknown(latency: float, tmp_path: Path) -> None:
    [claim] = read_claims(
        [written(tmp_path / "t.jsonl", trace(latency_ms=latency))], [("mine_v1", own())]
    ).claims
    assert claim.latency_us is None and claim.ratio is None
    assert is_confirmed(claim, None) and not is_confirmed(claim, 2.0)


@pytest.mark.parametrize(
    "line",
    [
        "[1]",
        "{",
        "[" * 100_000,
        json.dumps(trace(definition="")),
        json.dumps(trace(latency_ms=-1)),
        json.dumps(trace()).replace('"status"', '"status": "PASSED", "status"'),
        json.dumps(trace(workload={"axes": {"m": -1}, "inputs": {}, "uuid": "x"})),
        json.dumps(trace(workload={"axes": {"m": 1 << 80}, "inputs": {}, "uuid": "x"})),
        '{"definition": "\\ud800"}',
    ],
)
def test_line_that_is_no_trace_is_refused_with_its_place(line: str, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(trace()) + "\n" + line + "\n")
    with pytest.raises(UsageError, match=r"t\.jsonl, line 2: not a Trace of flashinfer-bench") as raised:
        read_claims([path])
    assert "\n" not in str(raised.value)


def test_random_lines_are_read_or_refused(tmp_path: Path) -> None:
    random.seed(18)
    good = json.dumps(trace()).encode()
    refused = 0
    for _ in range(2000):
        data = bytearray(good)
        for _ in range(random.randrange(1, 4)):
            data[random.randrange(len(data))] = random.choice(b'\x00\x1b"{}[]0e-9\xff\\')
        path = tmp_path / "t.jsonl"
        path.write_bytes(bytes(data))
        try:
            json.loads(read_claims([path]).to_json())
        except UsageError:
            refused += 1
    assert 0 < refused < 2000


def test_results_of_a_batch_have_the_names_of_their_ids(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    lines = [
        {
            "schema": "neutrino-bench/batch/1",
            "job": "0",
            "id": "folder/mine_v1.cu",
            "result": json.loads(own().to_json()),
        },
        {"schema": "neutrino-bench/batch/1", "job": "1", "id": "lost", "result": None},
    ]
    path.write_text("".join(json.dumps(each, separators=(",", ":")) + "\n" for each in lines))
    [(name, result)] = stored_results(path)
    assert (name, result.problem) == ("mine_v1.cu", "gemm")
    path.write_text(path.read_text() + '{"schema":"neutrino-bench/batch/1"}\n')
    with pytest.raises(UsageError, match=r"r\.jsonl, line 3: not a result of a batch"):
        list(stored_results(path))


def test_pipe_in_place_of_a_result_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "r.json")
    with pytest.raises(UsageError, match="cannot be read: it is not a regular file"):
        list(stored_results(tmp_path / "r.json"))


def test_file_of_other_content_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text("[]")
    with pytest.raises(UsageError, match="is not a result of `grade --json`, nor of a batch"):
        list(stored_results(tmp_path / "r.json"))


def test_import_of_files_without_a_trace_fails(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text("\n")
    ran = CliRunner().invoke(cli, ["import", str(tmp_path / "t.jsonl")])
    assert isinstance(ran.exception, UsageError) and "t.jsonl: no Trace; give files" in str(ran.exception)


def test_export_of_results_without_a_case_fails_and_writes_no_file(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(graded_result("failed", ()).to_json())
    ran = CliRunner().invoke(
        cli, ["export", str(tmp_path / "r.json"), "--flashinfer-trace", str(tmp_path / "t.jsonl")]
    )
    assert isinstance(ran.exception, UsageError) and "r.json: no case, so" in str(ran.exception)
    assert not (tmp_path / "t.jsonl").exists()
