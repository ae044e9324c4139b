"""A capture is a call of what the problem asked for, whatever its writer says of it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from benchguard.capture.layout import AllocationFlag, Role
from benchguard.capture.model import Range, Refusal
from benchguard.grade.specification import check_capture
from benchguard.problem.spec import Buffer, CaseSpec
from tests.unit.grade.recorded import RANGES, SIZE, SPARE, SPEC, X, Y, record

INPUT, OUTPUT = RANGES


def test_an_honest_recording_is_taken(tmp_path: Path) -> None:
    assert check_capture(record(tmp_path / "x.ncap"), SPEC) is None


@pytest.mark.parametrize(
    ("ranges", "words"),
    [
        pytest.param(
            (INPUT, dataclasses.replace(OUTPUT, address=X)), "share memory", id="the output is the input"
        ),
        pytest.param(
            (INPUT, dataclasses.replace(OUTPUT, bytes=SIZE - 4)), "1020 bytes", id="a smaller output"
        ),
        pytest.param((dataclasses.replace(INPUT, bytes=4), OUTPUT), "4 bytes", id="a smaller input"),
        pytest.param((INPUT,), "lacks buffer 'y'", id="no output"),
        pytest.param(
            (INPUT, OUTPUT, dataclasses.replace(INPUT, address=SPARE)), "2 places", id="an input twice"
        ),
        pytest.param((*RANGES, Range(Y, 4, Role.STATE, "mine")), "does not have", id="memory of its own"),
        pytest.param(
            (dataclasses.replace(INPUT, role=Role.STATE), OUTPUT), "is state", id="an input called constant"
        ),
    ],
)
def test_what_is_no_call_of_the_problem_is_a_violation(
    tmp_path: Path, ranges: tuple[Range, ...], words: str
) -> None:
    finding = check_capture(record(tmp_path / "x.ncap", ranges), SPEC)
    assert finding is not None
    assert finding.verdict == "violation"
    assert words in finding.text


def test_two_outputs_may_not_share_memory(tmp_path: Path) -> None:
    spec = CaseSpec("two", (*SPEC.arguments, Buffer("z", "float32", (SIZE // 4,), "output")))
    ranges = (*RANGES, dataclasses.replace(OUTPUT, name="z"))
    finding = check_capture(record(tmp_path / "x.ncap", ranges), spec)
    assert finding is not None
    assert "'y' and 'z' share memory" in finding.text


def test_in_place_is_the_problems_to_say(tmp_path: Path) -> None:
    spec = CaseSpec("inplace", (Buffer("x", "float32", (SIZE // 4,), "inout"),))
    assert check_capture(record(tmp_path / "x.ncap", (INPUT,)), spec) is None


def test_an_output_may_be_memory_that_the_call_made(tmp_path: Path) -> None:
    capture = record(tmp_path / "x.ncap", y_lives=AllocationFlag.AFTER)
    assert check_capture(capture, SPEC) is None


def test_an_output_that_was_given_back_is_none(tmp_path: Path) -> None:
    finding = check_capture(record(tmp_path / "x.ncap", y_lives=AllocationFlag.BEFORE), SPEC)
    assert finding is not None
    assert "when the call ends" in finding.text


def test_a_buffer_without_elements_needs_no_memory(tmp_path: Path) -> None:
    spec = CaseSpec("empty", (*SPEC.arguments, Buffer("none", "float32", (0, 4))))
    assert check_capture(record(tmp_path / "x.ncap"), spec) is None


def test_what_was_refused_cannot_be_replayed(tmp_path: Path) -> None:
    refusal = Refusal(1, "cuMemcpyDtoH_v2", "reads device memory")
    finding = check_capture(record(tmp_path / "x.ncap", refusals=[refusal]), SPEC)
    assert finding is not None
    assert finding.verdict == "unreplayable"
    assert "cuMemcpyDtoH_v2" in finding.text
