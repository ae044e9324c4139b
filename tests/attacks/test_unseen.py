"""Numbers that a problem's own check does not look at."""

from __future__ import annotations

from pathlib import Path

import pytest

import benchguard

PROBLEM = """
import numpy as np
from benchguard.problem.problem import Problem

ROWS, COLUMNS = 64, 64

class Shares(Problem):
    parameters = (
        {"name": "x", "type": "float", "pointer": True, "const": True},
        {"name": "y", "type": "float", "pointer": True, "const": False},
    )
    distributions = ("own",)

    def __init__(self):
        super().__init__("shares")

    def reference_solution(self, x):
        return x / x.sum(axis=1, keepdims=True)

    def verify_result(self, expected, actual, dtype=None):
        return bool(np.allclose(actual[:SEEN], expected[:SEEN], rtol=1e-4, atol=0)), {}

    def generate_test_cases(self):
        def make():
            numbers = np.random.default_rng(self.get_seed("x")).random((ROWS, COLUMNS), np.float32)
            return (numbers + np.float32(0.5),)
        return [{"name": "small", "create_inputs": make}]
"""
SHARES = """
__global__ void shares(const float *x, float *y) {
    float sum = 0;
    int at = blockIdx.x * 64;
    if (blockIdx.x >= COMPUTED) { y[at + threadIdx.x] = OTHER; return; }
    for (int i = 0; i < 64; i++) sum += x[at + i];
    y[at + threadIdx.x] = x[at + threadIdx.x] / sum * FACTOR;
}
extern "C" void solution(const float *x, float *y) { shares<<<64, 64>>>(x, y); }
"""
NAN = "__int_as_float(0x7fc00000)"
LITTLE = "1.00005f"
"""An error that the check accepts."""


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("seen", "computed", "other", "factor", "verdict"),
    [
        pytest.param(4, 64, "0", "1", "pass", id="all computed"),
        pytest.param(4, 4, NAN, "1", "unproven", id="NaN where nothing is seen"),
        pytest.param(4, 4, "0", LITTLE, "unproven", id="zeros and errors"),
        pytest.param(40, 40, NAN, "1", "pass", id="padding is not written"),
        pytest.param(40, 40, "0", LITTLE, "pass", id="padding is cleared"),
        pytest.param(64, 60, NAN, "1", "wrong", id="all seen"),
    ],
)
def test_rows_that_the_check_leaves_out_pass_only_as_padding(
    native: Path, tmp_path: Path, seen: int, computed: int, other: str, factor: str, verdict: str
) -> None:
    """A check of 4 in 64 rows accepts a kernel that computes only these."""
    assert (native / "sim").is_dir()
    problem, submission = tmp_path / "shares.py", tmp_path / "shares.cu"
    problem.write_text(PROBLEM.replace("SEEN", str(seen)))
    source = SHARES.replace("COMPUTED", str(computed)).replace("OTHER", other).replace("FACTOR", factor)
    submission.write_text(source)
    result = benchguard.grade(problem, submission, driver="sim", cases=("small",), samples=40)
    assert result.verdict == verdict, result.reason
    noted = [each for each in result.cases[0].notes if "check accepts any numbers there" in each]
    assert bool(noted) == (computed <= seen < 64)
    assert ("does not see them" in result.reason) == (verdict == "unproven")
