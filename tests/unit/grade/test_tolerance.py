"""The notes on tolerances name their cause: an author sees why an answer within the tolerance of the suite is wrong."""

from __future__ import annotations

from typing import get_args

import pytest
from msgspec.structs import replace

from benchguard.grade.tolerance import tolerance_notes
from benchguard.judge.contract import Cause, Checked

PLAIN = Checked(10, 0, None, 1e-7, 1e-6, 0, "")


@pytest.mark.parametrize(
    ("cause", "part"),
    [
        ("zeros", "zeros would pass"),
        ("stored", "one stored answer for all inputs would pass"),
        ("part", "an answer from a part of the inputs would pass"),
        ("order", "ignores which elements belong together would pass"),
        ("extremes", "no kernel rounds a largest or least element"),
        ("selected", "which are numbers of the inputs"),
    ],
)
def test_note_of_a_narrower_tolerance_names_its_cause(cause: Cause, part: str) -> None:
    checked = Checked(10, 0, None, 1e-7, 1e-6, 0, "", factors={"y": 0.01}, causes={"y": cause})
    (note,) = tolerance_notes(checked)
    assert note.startswith("y: tolerance 0.01 times the problem's: ") and part in note


def test_each_cause_has_a_note() -> None:
    for cause in get_args(Cause):
        checked = Checked(10, 0, None, 1e-7, 1e-6, 0, "", factors={"y": 0.5}, causes={"y": cause})
        assert len(list(tolerance_notes(checked))) == 1
    assert list(tolerance_notes(PLAIN)) == []


@pytest.mark.parametrize(
    ("checked", "part"),
    [
        (
            replace(PLAIN, refused_others="sparse: Singular matrix"),
            "input sets have the problem's own instead (sparse",
        ),
        (replace(PLAIN, wrong=3, only_others=True), "all outputs for the problem's own inputs are right"),
    ],
)
def test_note_of_other_distributions_says_what_differs(checked: Checked, part: str) -> None:
    (note,) = tolerance_notes(checked)
    assert part in note
