"""Outputs that are as good as zeros, where a problem's own test would accept zeros."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchguard.problem.case import ProblemCase
from benchguard.problem.load import load
from benchguard.problem.near_zero import near_zero_reason
from benchguard.problem.spec import Buffer

PROBLEM = """
import numpy as np
import benchguard


class Shares(benchguard.Problem):
    parameters = [
        {"name": "x", "type": "float", "pointer": True, "const": True},
        {"name": "y", "type": "float", "pointer": True, "const": False},
    ]

    def __init__(self):
        super().__init__("shares")

    def generate_test_cases(self):
        draw = lambda: (np.random.default_rng(self.get_seed("x")).random(4096, dtype=np.float32),)
        return [{"name": "one", "create_inputs": draw}]

    def reference_solution(self, x):
        return x / x.sum() * SCALE

    def verify_result(self, expected, actual):
        return bool(np.allclose(actual, expected, rtol=1e-5, atol=1e-3)), {}
"""


def case_of(folder: Path, scale: str = "1") -> ProblemCase:
    path = folder / "shares.py"
    path.write_text(PROBLEM.replace("SCALE", scale))
    (case,) = load(str(path)).cases
    assert isinstance(case, ProblemCase)
    return case


def verdict(case: ProblemCase, actual: np.ndarray, seed: int = 7) -> str | None:
    inputs = case.inputs(seed, "own")
    return case.verify(inputs, case.expected(inputs), {"y": actual.astype(np.float32)})


def expected_of(case: ProblemCase, seed: int = 7) -> np.ndarray:
    return np.asarray(case.expected(case.inputs(seed, "own"))["y"])


@pytest.mark.parametrize("trivial", ["zeros", "mean", "input", "other set"])
def test_trivial_answer_that_verify_result_accepts_is_wrong(trivial: str, tmp_path: Path) -> None:
    case = case_of(tmp_path)
    right = expected_of(case)
    answers = {
        "zeros": np.zeros(4096),
        "mean": np.full(4096, right.mean()),
        "input": np.asarray(case.inputs(7, "own")["x"]) * 1e-4,
        "other set": expected_of(case, 8),
    }
    answer = answers[trivial].astype(np.float32)
    assert case.author.verify([right.astype(np.float32)], [answer]) is None  # without the rule it passes
    reason = verdict(case, answer)
    assert reason is not None and "verify_result would accept zeros" in reason


def test_honest_answers_pass(tmp_path: Path) -> None:
    case = case_of(tmp_path)
    right = expected_of(case)
    for honest in (right, right.astype(np.float32), right * (1 + 2.0**-8)):
        assert verdict(case, honest) is None


def test_other_problems_keep_their_own_test(tmp_path: Path) -> None:
    case = case_of(tmp_path, scale="4096")
    right = expected_of(case)
    assert verdict(case, right + 0.9e-3) is None
    reason = verdict(case, np.zeros(4096))
    assert reason is not None and reason.startswith("verify_result:")


BUFFER = Buffer("y", "float32", (4,), "output")


def test_noise_around_zero_may_be_zero() -> None:
    """The reference in float32 gives other noise than in float64."""
    wide, own = np.array([1e-9, -1e-9, 0, 2e-9]), np.array([-1e-9, 1e-9, 1e-9, 0], np.float32)
    assert near_zero_reason([BUFFER], [wide], [np.zeros(4, np.float32)], lambda: [own]) is None
    exact = near_zero_reason([BUFFER], [wide], [np.zeros(4, np.float32)], lambda: [wide.astype(np.float32)])
    assert exact is not None and exact.startswith("y is off by 2e-09")


@pytest.mark.parametrize("lost", [np.nan, np.inf, -np.inf])
def test_number_beside_right_ones_lost_is_wrong(lost: float) -> None:
    """verify_result may accept NaN: `(off > limit).any()` does."""
    wide = np.array([1e-9, -1e-9, 3e-9, np.inf])
    own = wide.astype(np.float32)
    assert near_zero_reason([BUFFER], [wide], [own], lambda: [own]) is None
    with np.errstate(invalid="ignore"):
        reason = near_zero_reason(
            [BUFFER], [wide], [np.where([0, 1, 0, 0], np.float32(lost), own)], lambda: [own]
        )
    assert reason is not None and reason.startswith("y is off by inf")


def test_number_that_overflows_in_the_dtype_is_right_as_infinity() -> None:
    half = Buffer("y", "float16", (2,), "output")
    wide, own = np.array([1.0, 7e4]), np.array([1.0, np.inf], np.float16)
    with np.errstate(over="ignore", invalid="ignore"):
        assert near_zero_reason([half], [wide], [own], lambda: [own]) is None


def test_exact_zeros_are_right() -> None:
    zeros = np.zeros(4)
    assert near_zero_reason([BUFFER], [zeros], [zeros.astype(np.float32)], lambda: [zeros]) is None
