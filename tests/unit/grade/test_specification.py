"""A capture is a call of what the problem asked for, whatever its writer says of it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from benchguard.capture.layout import AllocationFlag, Role
from benchguard.capture.model import Range, Refusal
from benchguard.grade.specification import check_capture
from benchguard.problem.spec import Buffer, CaseSpec
from tests.unit.grade.recorded import RANGES, SIZE, SPARE, SPEC, X, Y, record

INPUT, OUTPUT = RANGES


def test_honest_capture_is_accepted(tmp_path: Path) -> None:
    assert check_capture(record(tmp_path / "x.ncap"), SPEC) is None


@pytest.mark.parametrize(
    ("ranges", "words"),
    [
        pytest.param(
            (INPUT, msgspec.structs.replace(OUTPUT, address=X)), "share memory", id="the output is the input"
        ),
        pytest.param(
            (INPUT, msgspec.structs.replace(OUTPUT, bytes=SIZE - 4)), "1020 bytes", id="a smaller output"
        ),
        pytest.param((msgspec.structs.replace(INPUT, bytes=4), OUTPUT), "4 bytes", id="a smaller input"),
        pytest.param((INPUT,), "lacks buffer 'y'", id="no output"),
        pytest.param(
            (INPUT, OUTPUT, msgspec.structs.replace(INPUT, address=SPARE)), "2 places", id="an input twice"
        ),
        pytest.param((*RANGES, Range(Y, 4, Role.STATE, "mine")), "does not have", id="memory of its own"),
        pytest.param(
            (msgspec.structs.replace(INPUT, role=Role.STATE), OUTPUT),
            "is state",
            id="an input called constant",
        ),
    ],
)
def test_mismatched_buffers_are_violation(tmp_path: Path, ranges: tuple[Range, ...], words: str) -> None:
    finding = check_capture(record(tmp_path / "x.ncap", ranges), SPEC)
    assert finding is not None
    assert finding.verdict == "violation"
    assert words in finding.text


def test_outputs_sharing_memory_are_violation(tmp_path: Path) -> None:
    spec = CaseSpec("two", (*SPEC.arguments, Buffer("z", "float32", (SIZE // 4,), "output")))
    ranges = (*RANGES, msgspec.structs.replace(OUTPUT, name="z"))
    finding = check_capture(record(tmp_path / "x.ncap", ranges), spec)
    assert finding is not None
    assert "'y' and 'z' share memory" in finding.text


def test_buffers_sharing_memory_are_accepted_only_if_problem_is_in_place(tmp_path: Path) -> None:
    spec = CaseSpec("inplace", (Buffer("x", "float32", (SIZE // 4,), "inout"),))
    assert check_capture(record(tmp_path / "x.ncap", (INPUT,)), spec) is None


def test_output_allocated_by_call_is_accepted(tmp_path: Path) -> None:
    capture = record(tmp_path / "x.ncap", y_lives=AllocationFlag.AFTER)
    assert check_capture(capture, SPEC) is None


def test_output_freed_by_call_is_violation(tmp_path: Path) -> None:
    finding = check_capture(record(tmp_path / "x.ncap", y_lives=AllocationFlag.BEFORE), SPEC)
    assert finding is not None
    assert "when the call ends" in finding.text


def test_empty_buffer_needs_no_memory(tmp_path: Path) -> None:
    spec = CaseSpec("empty", (*SPEC.arguments, Buffer("none", "float32", (0, 4))))
    assert check_capture(record(tmp_path / "x.ncap"), spec) is None


def test_refused_capture_is_unreplayable(tmp_path: Path) -> None:
    refusal = Refusal(1, "cuMemcpyDtoH_v2", "reads device memory")
    finding = check_capture(record(tmp_path / "x.ncap", refusals=[refusal]), SPEC)
    assert finding is not None
    assert finding.verdict == "unreplayable"
    assert "cuMemcpyDtoH_v2" in finding.text
