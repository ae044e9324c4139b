"""Scores as KernelBench and Tensara compute them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchguard.cli.fast_p import fast_p as command
from benchguard.compat.kernelbench import fast_p, reference_submission, speedups
from benchguard.compat.tensara import tensara_result
from benchguard.errors import UsageError
from benchguard.replay.result import TimeBlock
from tests.unit.compat.made import made_case, made_result


def timed(name: str, median: float, gflops: float | None) -> object:
    time = TimeBlock(median, None, median, median, median, median, median, 0.0, 10)
    return made_case(name, time_us=time, gflops=gflops)


def test_tensara_result_averages_over_cases() -> None:
    result = tensara_result(made_result(timed("a", 1000.0, 50.0), timed("b", 3000.0, 150.0)))  # type: ignore[arg-type]
    assert (result["status"], result["total_tests"]) == ("BENCHMARKED", 2)
    assert (result["avg_runtime_ms"], result["avg_gflops"]) == (2.0, 100.0)
    assert result["test_results"][1] == {"test_id": 2, "name": "b", "runtime_ms": 3.0, "gflops": 150.0}


def test_tensara_result_without_operations_has_no_rate() -> None:
    result = tensara_result(made_result(timed("a", 1000.0, 50.0), timed("b", 3000.0, None)))  # type: ignore[arg-type]
    assert result["avg_gflops"] is None and result["avg_runtime_ms"] == 2.0


def test_tensara_result_of_a_wrong_submission_has_no_time() -> None:
    result = tensara_result(made_result(timed("a", 1.0, 1.0), made_case("b", "wrong", "they differ")))  # type: ignore[arg-type]
    assert result["status"] == "WRONG" and "avg_gflops" not in result
    assert [row["status"] for row in result["test_results"]] == ["PASSED", "FAILED"]
    assert result["test_results"][1]["debug_info"] == {"message": "they differ"}


def write(folder: Path, name: str, **fields: object) -> None:
    document = {"schema": "neutrino-bench/compare/1", "call": "FASTER", "reason": "", "cases": [], "a": 1}
    (folder / f"{name}.json").write_text(json.dumps({**document, **fields}))


def test_fast_p_counts_right_and_faster_results(tmp_path: Path) -> None:
    """KernelBench's definition: of all problems, those whose submission is right and more than p times as fast."""
    write(tmp_path, "1", cases=[{"name": "forward", "ratio": 0.25}])
    write(tmp_path, "2", cases=[{"name": "forward", "ratio": 2.0}])
    write(tmp_path, "3", call=None, reason="B did not pass")
    write(tmp_path, "4", cases=[{"name": "forward", "ratio": 1.0}])
    found = speedups(tmp_path)
    assert [each.speedup for each in found] == [
        pytest.approx(4.0),
        pytest.approx(0.5),
        None,
        pytest.approx(1.0),
    ]
    assert [fast_p(found, p) for p in (0, 0.4, 0.9, 2, 4.1)] == [0.75, 0.75, 0.5, 0.25, 0.0]
    done = CliRunner().invoke(command, [str(tmp_path), "--threshold", "0.9"])
    assert done.exit_code == 0 and "3.json: did not pass: B did not pass" in done.output
    assert done.output.splitlines()[-1] == "fast_0.9 = 0.500 of 4"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"schema": "neutrino-bench/result/1"}',
        '{"schema": "x", "call": null, "reason": "", "cases": []}',
    ],
)
def test_other_documents_are_refused_by_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "other.json").write_text(text)
    with pytest.raises(UsageError, match=r"other\.json is not a result of"):
        speedups(tmp_path)


@pytest.mark.parametrize("ratio", [0.0, 5e-324])
def test_impossible_ratio_is_refused(tmp_path: Path, ratio: float) -> None:
    write(tmp_path, "1", cases=[{"ratio": ratio}])
    with pytest.raises(UsageError, match="not a positive number"):
        speedups(tmp_path)


def test_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no result"):
        speedups(tmp_path)


def test_reference_submission_is_the_problems_model() -> None:
    torch = pytest.importorskip("torch")
    problem = Path(__file__).parents[1] / "adapters" / "given" / "kernelbench_linear.py"
    for compiled in (False, True):
        names: dict[str, object] = {"__name__": "submission"}
        exec(compile(reference_submission(problem, compiled=compiled), "submission.py", "exec"), names)
        torch.manual_seed(42)
        reference = names["Model"](16, 12, -0.25)  # type: ignore[operator]
        torch.manual_seed(42)
        submission = names["ModelNew"](16, 12, -0.25)  # type: ignore[operator]
        assert torch.equal(submission.linear.weight, reference.linear.weight)
        if not compiled:  # torch.compile needs a compiler for its first call
            x = torch.ones(8, 16)
            assert torch.equal(submission(x), reference(x))
    with pytest.raises(UsageError, match="cannot read the problem"):
        reference_submission("/nowhere.py")
