"""A comparison takes the samples of a grade: outputs are filled with noise, and all of them are checked.

Without a problem, those of several replays are compared with each other."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from benchguard import compare, compare_captures, grade
from benchguard.ipc.lock_file import FOLDER
from tests.attacks.catalogue import ATTACK_LIST, HONEST, PROBLEMS
from tests.attacks.problems import DEEP
from tests.attacks.running import placed

WON = 0.1
"""The attack had 0.01 of the control's time at ff3e2465, whose comparisons did not fill outputs; the truth is 1."""

ATTACK, FIRST = (each for each in ATTACK_LIST if each.name in ("16_filled_output", "19_first_inputs"))
CONTROL = HONEST / "changed_only.cu"
"""It reads its output, too."""


COMPILER = """
import time
while time.process_time() < 5:
    pass
"""
HOG = """
import os, time
END = time.monotonic() + 16
for _ in range(3000):
    if os.fork() == 0:
        os.setsid()
        while time.monotonic() < END:
            pass
        os._exit(0)
time.sleep(max(0, END - time.monotonic()))
"""

OPTIONS = {"driver": "sim", "cold": "none", "samples": 14, "timeout": 800, "blocks": 3}

pytestmark = [
    pytest.mark.timeout(2400),
    pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed"),
]


def test_kernel_idle_on_filled_output_is_compared_by_its_true_time(tmp_path: Path) -> None:
    """Its captured call does no work. A strict replay sees that the outcome depends on the output's content."""
    problem, kept = f"{PROBLEMS}:{ATTACK.problem}", tmp_path / "kept"
    with placed(CONTROL) as control, placed(ATTACK.path) as attack:
        result = compare(problem, control, attack, cases=(ATTACK.small,), keep=kept, **OPTIONS)
    assert (result.verdict, result.reason, len(result.cases)) == ("pass", "", 1)
    assert result.cases[0].ratio > WON

    a, b = (next((kept / side).glob("*.ncap")) for side in "ab")
    honest = compare_captures(a, a, strict=True, **OPTIONS)
    assert (honest.verdict, honest.reason) == ("pass", "")
    refused = compare_captures(a, b, strict=True, **OPTIONS)
    assert (refused.verdict, refused.call) == ("unreplayable", None)
    assert (
        refused.reason.startswith("B ")
        and "is not the recorded one if it begins with a pattern" in refused.reason
    )


def test_side_that_takes_all_processors_does_not_win_by_the_others_time_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each process has a session, because Linux shares the processors among sessions."""
    monkeypatch.setenv(FOLDER, str(tmp_path))  # both sides are graded at once, as on a GPU
    with placed(HONEST / "mix.py") as honest, placed(HONEST / "mix.py") as hog:
        for folder, head in ((honest, COMPILER), (hog, HOG)):
            path = folder / "submission.py"
            path.write_text(head + path.read_text())
        result = compare(f"{PROBLEMS}:Mix", honest, hog, **{**OPTIONS, "timeout": 22, "cases": ("small",)})
    assert (result.a.verdict, result.a.reason) == ("pass", "")


def test_kernel_honest_on_first_inputs_is_unproven_without_a_problem(tmp_path: Path) -> None:
    """The inputs of a strict comparison have no expected outputs; those of each replay must be the same."""
    inputs = {"x": [np.random.default_rng(seed).bytes(4 * DEEP) for seed in range(12)]}
    captures = []
    for number, path in enumerate((CONTROL, FIRST.path)):
        with placed(path) as submission:
            kept = tmp_path / str(number)
            grade(f"{PROBLEMS}:Mix", submission, driver="sim", cases=("deep",), samples=4, keep=kept)
            captures.append(next(kept.glob("*.ncap")))
    a, b = captures
    honest = compare_captures(a, a, strict=True, inputs=inputs, **OPTIONS)
    assert (honest.verdict, honest.reason, honest.outputs_checked) == ("pass", "", True)
    assert [each.differing for each in honest.pairs[0].memory] == [0, 0]
    refused = compare_captures(a, b, strict=True, inputs=inputs, **OPTIONS)
    assert (refused.verdict, refused.call) == ("unproven", None)
    assert "are not those of an earlier replay on the same inputs" in refused.reason
