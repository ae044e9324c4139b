"""A comparison takes the samples of a grade: outputs are filled with noise, and all of them are checked."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchguard import compare, compare_captures
from tests.attacks.catalogue import ATTACK_LIST, HONEST, PROBLEMS
from tests.attacks.running import placed

WON = 0.1
"""The attack had 0.01 of the control's time at ff3e2465, whose comparisons did not fill outputs; the truth is 1."""

(ATTACK,) = (each for each in ATTACK_LIST if each.name == "16_filled_output")
CONTROL = HONEST / "changed_only.cu"
"""It reads its output, too."""


@pytest.mark.timeout(900)
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
def test_kernel_idle_on_filled_output_is_compared_by_its_true_time(tmp_path: Path) -> None:
    """Its captured call does no work. A strict replay sees that the outcome depends on the output's content."""
    options = {"driver": "sim", "cold": "none", "samples": 14, "timeout": 200, "blocks": 3}
    problem, kept = f"{PROBLEMS}:{ATTACK.problem}", tmp_path / "kept"
    with placed(CONTROL) as control, placed(ATTACK.path) as attack:
        result = compare(problem, control, attack, cases=(ATTACK.small,), keep=kept, **options)
    assert (result.verdict, result.reason, len(result.cases)) == ("pass", "", 1)
    assert result.cases[0].ratio > WON

    a, b = (next((kept / side).glob("*.ncap")) for side in "ab")
    honest = compare_captures(a, a, strict=True, **options)
    assert (honest.verdict, honest.reason) == ("pass", "")
    refused = compare_captures(a, b, strict=True, **options)
    assert (refused.verdict, refused.call) == ("unreplayable", None)
    assert (
        refused.reason.startswith("B ")
        and "is not the recorded one if it begins with a pattern" in refused.reason
    )
