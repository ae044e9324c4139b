"""A set that tells nothing excuses no kernel that is wrong on the problem's own inputs."""

from __future__ import annotations

from pathlib import Path

import pytest

import benchguard

PROBLEM = """
import numpy as np
from benchguard.problem.problem import Problem

class Solve(Problem):
    parameters = (
        {"name": "l", "type": "float", "pointer": True, "const": True},
        {"name": "b", "type": "float", "pointer": True, "const": True},
        {"name": "x", "type": "float", "pointer": True, "const": False},
    )
    distributions = ("own", "normal", "columns")

    def __init__(self):
        super().__init__("solve")

    def reference_solution(self, l, b):
        return np.linalg.solve(l, b)

    def get_outputs(self, test_case):
        return [((64,), "float")]

    def generate_test_cases(self):
        def make():
            random = np.random.default_rng(self.get_seed("solve"))
            l = np.tril(random.standard_normal((64, 64)) / 8, -1) + np.diag(random.uniform(1, 2, 64))
            return l.astype(np.float32), random.standard_normal(64).astype(np.float32)
        return [{"name": "small", "create_inputs": make}]
"""
CHECK = """
    def verify_result(self, expected_output, actual_output, dtype=None):
        return bool(np.allclose(expected_output, actual_output, 1e-4, 1e-5)), {}
"""
KERNEL = """
__global__ void solve(const float *l, const float *b, float *x) {
    __shared__ float s[64];
    int at = threadIdx.x;
    s[at] = b[at];
    __syncthreads();
    for (int row = 0; row < ROWS; row++) {
        if (at == row) s[row] /= l[row * 64 + row];
        __syncthreads();
        if (at > row) s[at] -= l[at * 64 + row] * s[row];
        __syncthreads();
    }
    x[at] = s[at];
}
extern "C" void solution(const float *l, const float *b, float *x) { solve<<<1, 64>>>(l, b, x); }
"""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("check", ["", CHECK], ids=["tolerance", "own check"])
@pytest.mark.parametrize(("rows", "verdict"), [(64, "pass"), (63, "wrong"), (8, "wrong")])
def test_triangular_solution_is_judged_on_the_own_matrices(
    native: Path, tmp_path: Path, check: str, rows: int, verdict: str
) -> None:
    """Normal numbers make a matrix that is nearly singular: its solution is another one after roundings."""
    assert (native / "sim").is_dir()
    problem, submission = tmp_path / "solve.py", tmp_path / "solve.cu"
    problem.write_text(PROBLEM + check)
    submission.write_text(KERNEL.replace("ROWS", str(rows)))
    result = benchguard.grade(problem, submission, driver="sim", cases=("small",), samples=30)
    assert result.verdict == verdict, result.reason
    note = "wrong outputs for sets of other distributions do not count ("
    assert any(each.startswith(note) for each in result.cases[0].notes) == (verdict == "pass")
