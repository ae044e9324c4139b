"""Reasons of a result advise what the problem permits."""

from __future__ import annotations

import pytest

from benchguard.capture.model import Dim3
from benchguard.grade.conclusion import advised, may_lack_barrier
from benchguard.grade.evidence import KernelEvidence
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


@pytest.mark.parametrize(
    ("blocks", "expected"), [([], True), ([(1, 1, 1)], False), ([(1, 1, 1), (1, 2, 1)], True)]
)
def test_kernels_whose_blocks_have_one_thread_lack_no_barrier(blocks: list[Dim3], expected: bool) -> None:
    kernels = [KernelEvidence("k", "a" * 64, "lib", (8, 1, 1), block, 8, 0, 1, 1.0) for block in blocks]
    assert may_lack_barrier(kernels) is expected
