"""From what was sealed to what is said."""

from __future__ import annotations

import pytest

from benchguard.inline.result import GAP_US, result_of, stopped_text
from benchguard.inline.seal import ALTERED, PROBE, UNPRIMED, SealedResult, SealedRow


def sealed(*rows: SealedRow, wanted: int = 3, stopped: int = 0) -> SealedResult:
    return SealedResult(0, wanted, stopped, 1.0, 4.0, rows)


PROBED = SealedRow(99.0, 100.0, 0, 5, PROBE)


def test_times_exclude_the_probe() -> None:
    rows = (PROBED, SealedRow(10.0, 14.0, 0, 1, 0), SealedRow(11.0, 15.0, 0, 2, UNPRIMED))
    result = result_of(sealed(*rows), 31, 6, True, ())
    assert result.times_us == (10.0, 11.0) and result.errors == (0, 0, 0)
    assert result.full and result.correct and (result.unprimed, result.corrected) == (1, 0)
    assert result.arena == "on" and result.event_overhead_us == 1.0


def test_time_below_its_stamps_is_corrected() -> None:
    """Events that were recorded anew, behind the work."""
    result = result_of(sealed(PROBED, SealedRow(0.5, 84.0, 0, 1, 0)), 31, 6, True, ())
    assert result.times_us == (84.0 - 1.5 * 4.0 - GAP_US,) and result.corrected == 1


def test_probe_error_alone_counts() -> None:
    result = result_of(sealed(SealedRow(9.0, 10.0, 7, 0, PROBE)), 31, 6, True, ())
    assert not result.correct and not result.full and result.counted == (7,)


def test_probe_error_does_not_count_if_all_samples_are_right() -> None:
    """A call on streams that do not wait for the inputs."""
    wrong = SealedRow(9.0, 10.0, 7, 0, PROBE)
    right, other = SealedRow(9.0, 10.0, 0, 1, UNPRIMED), SealedRow(9.0, 10.0, 1, 2, UNPRIMED)
    result = result_of(sealed(wrong, right), 31, 6, True, ())
    assert result.correct and result.settled and result.counted == (0,)
    result = result_of(sealed(wrong, right, other), 31, 6, True, ())
    assert not result.correct and not result.settled and result.counted == (7, 0, 1)
    later = SealedRow(9.0, 10.0, 1, 2, PROBE)
    result = result_of(sealed(PROBED, right, later, wanted=4), 31, 6, True, ())
    assert result.correct and result.settled and result.times_us == (9.0,) and result.wanted == 2


def test_result_without_rows_is_not_correct() -> None:
    result = result_of(sealed(PROBED, stopped=7000), 31, 6, True, ())
    assert not result.correct and not result.full and result.stopped == "the call raised an exception"


def test_tampering_is_reported() -> None:
    result = result_of(sealed(SealedRow(9.0, 10.0, 1, 0, PROBE | ALTERED)), 31, 6, True, ())
    assert "1 samples" in result.altered and not result.correct


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, ""), (11700, "the work of the call failed (CUDA error 700)"), (99000, "stopped with 99000")],
)
def test_stop_reason_is_reported(number: int, text: str) -> None:
    assert stopped_text(number) == text
