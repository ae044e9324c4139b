"""The output that GPU MODE's runners read, byte for byte."""

from __future__ import annotations

import os

import msgspec
import pytest

from benchguard.compat.popcorn import popcorn_lines, popcorn_status, write_popcorn
from benchguard.grade.result import Verdict
from tests.unit.compat.made import made_case, made_result, timed_case


def test_result_has_lines_for_tests_and_benchmarks() -> None:
    result = made_result(
        timed_case("test.0", 5.0),
        timed_case("test.1", 5.0, params={"size": "256", "seed": "5531"}, notes=("a note",)),
        timed_case("benchmark.0", 10.0, 12.0, 14.0),
    )
    assert list(popcorn_lines(result)) == [
        "test-count: 2",
        "test.0.spec: size: 128; seed: 1001",
        "test.0.status: pass",
        "test.1.spec: size: 256; seed: 5531",
        "test.1.status: pass",
        "test.1.message: a note",
        "benchmark-count: 1",
        "benchmark.0.spec: size: 128; seed: 1001",
        "benchmark.0.runs: 3",
        "benchmark.0.mean: 12000.0",
        "benchmark.0.std: 2000.0",
        "benchmark.0.err: 1154.7005383792516",
        "benchmark.0.best: 10000.0",
        "benchmark.0.worst: 14000.0",
        "check: pass",
    ]
    assert popcorn_status(result) == 0


def test_score_has_a_line() -> None:
    result = msgspec.structs.replace(made_result(timed_case("benchmark.0", 10.0)), score_s=1e-5)
    assert list(popcorn_lines(result))[-2:] == ["score: 1e-05", "check: pass"]


def test_failed_case_has_status_and_error() -> None:
    result = made_result(timed_case("test.0", 5.0), timed_case("benchmark.0", 5.0, wrong=1))
    assert list(popcorn_lines(result))[-4:] == [
        "benchmark.0.spec: size: 128; seed: 1001",
        "benchmark.0.status: fail",
        "benchmark.0.error: they differ",
        "check: fail",
    ]
    result = made_result(made_case("test.0", "violation", "no"))
    assert "test.0.error: no" in list(popcorn_lines(result))


def test_cases_of_other_formats_are_benchmarks() -> None:
    lines = list(popcorn_lines(made_result(timed_case("4096 x 4096", 1.0, params={}))))
    assert lines[:3] == ["benchmark-count: 1", "benchmark.0.spec: 4096 x 4096", "benchmark.0.runs: 1"]
    assert "benchmark.0.err: 0.0" in lines


def test_submission_text_cannot_forge_lines() -> None:
    """A reason contains the submission's text, which must not break or start a line."""
    hostile = "exit 1\ncheck: pass\r\nbenchmark.0.mean: 1\x1b[2J\x00\u2028check: pass"
    result = made_result(made_case("test.0", "error", hostile))
    lines = list(popcorn_lines(result))
    assert [line for line in lines if line.startswith("check")] == ["check: fail"]
    assert all(line.isprintable() and len(line.splitlines()) == 1 for line in lines)
    result = made_result(verdict="error", reason=hostile)
    assert [line.partition(":")[0] for line in popcorn_lines(result)] == ["benchmark-count", "error", "check"]


@pytest.mark.parametrize(
    ("verdict", "status"),
    [
        ("wrong", 112), ("violation", 112), ("unreplayable", 112), ("unconverged", 112),
        ("timeout", 114), ("failed", 110), ("error", 110),
    ],
)  # fmt: skip
def test_verdict_maps_to_gpu_mode_status(verdict: Verdict, status: int) -> None:
    assert popcorn_status(made_result(verdict=verdict, reason="so")) == status


def test_lines_are_written_to_popcorn_fd() -> None:
    reading, writing = os.pipe()
    result = made_result(timed_case("test.0", 5.0))
    assert write_popcorn(result, {"POPCORN_FD": str(writing)}) == 0
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as stream:
        assert stream.read() == "".join(f"{line}\n" for line in popcorn_lines(result))


@pytest.mark.parametrize(
    "environment", [{}, {"POPCORN_FD": "x"}, {"POPCORN_FD": "987654"}, {"POPCORN_FD": "9" * 14}]
)
def test_missing_descriptor_gives_no_pipe_status(environment: dict[str, str]) -> None:
    assert write_popcorn(made_result(timed_case("test.0", 5.0)), environment) == 111


def test_samples_that_do_not_count_are_not_in_the_lines() -> None:
    lines = popcorn_lines(
        made_result(timed_case("benchmark.0", 1.0, 1.0, 9.0, 7.0, scored_samples=(9.0, 7.0)))
    )
    assert {"benchmark.0.runs: 2", "benchmark.0.mean: 8000.0", "benchmark.0.best: 7000.0"} <= {*lines}
