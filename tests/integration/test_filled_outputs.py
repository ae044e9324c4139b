"""Outputs that begin with zeros, as in the harnesses of Tensara and LeetGPU, graded on the CPU driver."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchguard.grade.grade import grade
from benchguard.grade.result import GradedCase, GradeResult
from benchguard.problem.errors import ProblemError
from tests.conftest import ROOT

pytestmark = pytest.mark.usefixtures("native")

ROWS, COLUMNS = 100, 64
"""The outputs have more than 64 bytes: smaller buffers may be equal in all input sets (judge/inputs.py)."""

PROBLEM = f"""
import numpy as np
from %s import Problem


class RowSum(Problem):
    parameters = [
        {{"name": "x", "type": "float", "pointer": True, "const": True}},
        {{"name": "y", "type": "float", "pointer": True, "const": False}},
        {{"name": "columns", "type": "size_t", "pointer": False, "const": False}},
    ]
    distributions = ("own", "negative")

    def __init__(self):
        super().__init__("row sum")

    def generate_test_cases(self):
        return [{{"name": "small", "create_inputs": lambda: self.drawn(0)}}]

    def drawn(self, shift):
        random = np.random.default_rng(self.get_seed("row sum"))
        return ((random.random(({ROWS}, {COLUMNS})) + shift).astype(np.float32),)

    def draw(self, test_case, seed, distribution):
        return self.drawn(-2) if distribution == "negative" else None

    def reference_solution(self, x):
        return np.maximum(x, 0).sum(axis=1)

    def get_extra_params(self, test_case):
        return [{COLUMNS}]
"""
"""The right answer for the distribution `negative` is zeros."""

SUBMISSION = f"""
__global__ void add(const float *x, float *y, size_t columns) {{
    float value = x[blockIdx.x * columns + threadIdx.x];
    if (value > %s) atomicAdd(y + blockIdx.x, value);
}}
extern "C" void solution(const float *x, float *y, size_t columns) {{
    add<<<{ROWS}, columns>>>(x, y, columns);
}}
"""
ADDING, IDLE = SUBMISSION % "0", SUBMISSION % "1e30f"

LEETGPU = """
__global__ void add(const float *x, const float *weights, float *out, int *seen, float factor, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out + i, x[i] * weights[i] * factor);
    if (i < 4) seen[i] += 1;
}
extern "C" void solve(const float *x, const float *weights, float *out, int *seen, float factor, size_t n) {
    add<<<(n + 255) / 256, 256>>>(x, weights, out, seen, factor, n);
}
"""
CHALLENGE = ROOT / "tests" / "unit" / "adapters" / "given" / "leetgpu_scale" / "challenge.py"


def graded(
    folder: Path, module: str, submission: str, tolerances: str = "None"
) -> tuple[GradeResult, GradedCase]:
    problem, file = folder / "row_sum.py", folder / "submission.cu"
    problem.write_text(f"{PROBLEM % module}\n    tolerances = {tolerances}\n")
    file.write_text(submission)
    result = grade(problem, file, driver="sim", samples=14, cold="none")
    assert len(result.cases) == 1, result.reason
    return result, result.cases[0]


def test_submission_that_adds_to_outputs_passes_in_tensara_form(tmp_path: Path) -> None:
    result, case = graded(tmp_path, "problem", ADDING)
    assert result.verdict == "pass", (result.reason, result.output)
    assert case.checks is not None and case.checks.wrong == 0


def test_submission_that_adds_to_outputs_is_wrong_in_own_form(tmp_path: Path) -> None:
    result, case = graded(tmp_path, "benchguard", ADDING)
    assert result.verdict == "wrong", (result.reason, result.output)
    assert case.checks is not None and case.checks.wrong == case.checks.samples


def test_untouched_outputs_are_wrong_although_zeros_are_right_for_a_distribution(tmp_path: Path) -> None:
    result, case = graded(tmp_path, "problem", IDLE)
    assert result.verdict == "wrong", (result.reason, result.output)
    assert case.checks is not None and 0 < case.checks.wrong < case.checks.samples


def test_untouched_outputs_are_wrong_where_tolerances_accept_zeros(tmp_path: Path) -> None:
    result, case = graded(tmp_path, "problem", IDLE, "(100, 0)")
    assert result.verdict == "wrong", (result.reason, result.output)
    assert case.checks is not None and case.checks.wrong == case.checks.samples


def test_problem_with_zeros_as_its_only_answer_refused(tmp_path: Path) -> None:
    problem, file = tmp_path / "row_sum.py", tmp_path / "submission.cu"
    problem.write_text((PROBLEM % "problem").replace("self.drawn(0)", "self.drawn(-2)"))
    file.write_text(IDLE)
    with pytest.raises(ProblemError, match="returned the same result for all"):
        grade(problem, file, driver="sim", samples=14, cold="none")


def test_submission_that_adds_to_filled_output_passes_in_leetgpu_form(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    challenge, file = tmp_path / "challenge.py", tmp_path / "submission.cu"
    text, old = CHALLENGE.read_text(), '"out": OutTensor((n,))'
    assert old in text
    challenge.write_text(text.replace(old, '"out": FullTensor((n,), 0.0)'))
    file.write_text(LEETGPU)
    result = grade(challenge, file, driver="sim", samples=14, cold="none")
    assert result.verdict == "pass", (result.reason, result.output)


def test_submission_may_include_the_header_of_early_leetgpu_submissions(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    file = tmp_path / "submission.cu"
    file.write_text('#include "solve.h"\n' + LEETGPU.replace("atomicAdd(out + i, x", "out[i] = (x"))
    result = grade(CHALLENGE, file, driver="sim", samples=14, cold="none")
    assert result.verdict == "pass", (result.reason, result.output)
