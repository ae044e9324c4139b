"""The cases whose secret inputs are made while a submission is recorded."""

from __future__ import annotations

from benchguard.grade.opening import AHEAD_BYTES, ahead_of
from benchguard.grade.options import GradeOptions
from benchguard.problem.spec import Buffer, CaseSpec

SET = AHEAD_BYTES // 64
"""Bytes of a set: four are far less than what is made ahead, and twenty are limited by the pool."""


def cases(count: int) -> list[CaseSpec]:
    buffer = Buffer("x", "uint8", (SET,), "input")
    return [CaseSpec(f"test.{number}", (buffer,), {}) for number in range(count)]


def test_tests_of_a_ranked_task_are_counted_with_their_few_sets() -> None:
    default = GradeOptions()
    assert ahead_of(cases(20), {"benchmark.0"}, default) == 16
    assert ahead_of(cases(20), {each.name for each in cases(20)}, default) == 4


def test_sets_that_the_user_chose_are_counted_for_all_cases() -> None:
    chosen = GradeOptions(sets=8, one_use=8)
    assert ahead_of(cases(20), {"benchmark.0"}, chosen) == 4


def test_first_case_is_made_ahead_whatever_its_size() -> None:
    assert ahead_of(cases(1), set(), GradeOptions(sets=1000)) == 1
