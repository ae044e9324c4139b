"""Reasons of a result advise what the problem permits."""

from __future__ import annotations

import pytest

from benchguard.grade.conclusion import advised
from benchguard.grade.examine import ON_THE_DEVICE
from benchguard.judge.contract import Opened


@pytest.mark.parametrize(
    ("own_checks", "advice"),
    [
        (False, "decide in a kernel instead of host code, or grade with --inline"),
        (True, "decide in a kernel instead of host code"),
    ],
)
def test_inline_is_advised_unless_the_problem_has_its_own_check(own_checks: bool, advice: str) -> None:
    opened = Opened("sum", "arguments", "solution", (), (), own_checks=own_checks)
    assert (
        advised(f"4 bytes depend on the inputs; {ON_THE_DEVICE}", opened)
        == f"4 bytes depend on the inputs; {advice}"
    )
