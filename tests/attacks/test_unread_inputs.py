"""A branch with a small weight, which a kernel leaves out: its inputs are named, whatever decides about the outputs."""

from __future__ import annotations

from pathlib import Path

import pytest

import benchguard

PROBLEM = """
import numpy as np
from benchguard.problem.problem import Problem

class Branch(Problem):
    parameters = (
        {"name": "x", "type": "TYPE", "pointer": True, "const": True},
        {"name": "w", "type": "TYPE", "pointer": True, "const": True},
        {"name": "y", "type": "TYPE", "pointer": True, "const": False},
    )

    def __init__(self):
        super().__init__("branch")

    def reference_solution(self, x, w):
        return x * x + WEIGHT * w

    def generate_test_cases(self):
        def make():
            random = np.random.default_rng(self.get_seed("branch"))
            return tuple(random.standard_normal(4096).astype(self.NUMPY) for _ in "xw")
        return [{"name": "small", "create_inputs": make}]
"""
CHECK = """
    def verify_result(self, expected_output, actual_output, dtype=None):
        return bool(np.abs(expected_output - actual_output).max() < 1e-2), {}
"""
KERNEL = """
#include <cuda_fp16.h>
__global__ void branch(const TYPE *x, const TYPE *w, TYPE *y) {
    int at = blockIdx.x * 256 + threadIdx.x;
    y[at] = float(x[at]) * float(x[at]) IF_READ + WEIGHTf * float(w[at]);
}
extern "C" void solution(const TYPE *x, const TYPE *w, TYPE *y) { branch<<<16, 256>>>(x, w, y); }
"""
FORMS = {"half": ("half", "float16", ""), "own check": ("float", "float32", CHECK)}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("weight", "is_read", "verdict"),
    [("0.0001", True, "pass"), ("0.0001", False, "pass"), ("0.5", True, "pass"), ("0.5", False, "wrong")],
)
def test_input_of_a_branch_with_a_small_weight_is_named(
    native: Path, tmp_path: Path, form: str, weight: str, is_read: bool, verdict: str
) -> None:
    assert (native / "sim").is_dir()
    dtype, numpy, check = FORMS[form]
    problem, submission = tmp_path / "branch.py", tmp_path / "branch.cu"
    text = PROBLEM.replace("TYPE", dtype).replace("self.NUMPY", f"np.{numpy}").replace("WEIGHT", weight)
    problem.write_text(text + check)
    kernel = KERNEL.replace("TYPE", dtype).replace("IF_READ", "" if is_read else "; //")
    submission.write_text(kernel.replace("WEIGHT", weight))
    result = benchguard.grade(problem, submission, driver="sim", cases=("small",), samples=14)
    assert result.verdict == verdict, result.reason
    note = "w: other numbers there hardly change the right answer, so a kernel that does not read them could pass"
    assert any(each.startswith(note) for each in result.cases[0].notes) == (weight == "0.0001")
