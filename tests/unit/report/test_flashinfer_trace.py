"""Results as flashinfer-bench's Traces: which verdicts have a form, and which fields each has."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from benchguard.grade.result import Verdict
from benchguard.report.flashinfer_trace import traces_of
from tests.support.results import graded_result


@pytest.mark.parametrize(
    ("verdict", "status", "blocks"),
    [
        ("pass", "PASSED", {"correctness", "performance"}),
        ("wrong", "INCORRECT_NUMERICAL", {"correctness"}),
        ("timeout", "TIMEOUT", set()),
        ("failed", "RUNTIME_ERROR", set()),
    ],
)
def test_verdict_has_the_status_and_blocks_that_the_schema_demands(
    verdict: Verdict, status: str, blocks: set[str]
) -> None:
    [trace] = traces_of(graded_result(verdict), "a.cu", "2026-11-24T00:00:00+00:00")
    evaluation = trace["evaluation"]
    assert evaluation["status"] == status
    assert {"correctness", "performance"} & set(evaluation) == blocks
    assert json.loads(json.dumps(trace, allow_nan=False)) == trace


@pytest.mark.parametrize("verdict", ["violation", "unreplayable", "unconverged", "unproven", "error"])
def test_verdict_without_a_status_is_left_out(verdict: Verdict) -> None:
    assert [*traces_of(graded_result(verdict), "a.cu", "t")] == []


def test_time_is_in_milliseconds_and_unknown_error_is_no_zero() -> None:
    result = graded_result(medians=(10.0,))
    case = replace(result.cases[0], params={"n": "1024", "dtype": "float16"}, max_abs_error=0.5)
    [trace] = traces_of(replace(result, cases=(case,)), "a.cu", "t")
    assert trace["workload"]["axes"] == {"n": 1024}
    assert trace["evaluation"]["performance"] == {"latency_ms": 0.01}
    assert trace["evaluation"]["correctness"] == {"max_relative_error": "NaN", "max_absolute_error": 0.5}
