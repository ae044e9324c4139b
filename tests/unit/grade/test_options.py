"""Limits that follow from options of a grade."""

from __future__ import annotations

from benchguard.grade.options import GradeOptions
from benchguard.ipc.memory import machine_memory


def test_memory_limit_without_option_is_half_of_machine() -> None:
    total, _ = machine_memory()
    assert 0.9 * total < 2 * GradeOptions().memory_limit < 1.1 * total


def test_memory_limit_with_option_is_that() -> None:
    assert GradeOptions(memory_bytes=1 << 29).memory_limit == 1 << 29
