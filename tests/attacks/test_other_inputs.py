"""Answers without the inputs, which the wide tolerance of a problem's own check accepts."""

from __future__ import annotations

from pathlib import Path

import pytest

import benchguard
from tests.attacks.test_blind_check import made

REFERENCE = """
import torch

def generate_input(n, seed):
    return torch.rand(n, generator=torch.Generator().manual_seed(seed)) + 0.5

def ref_kernel(x):
    y = 1e-3 * x.log()
    y[0] = x[0]
    return y

def check_implementation(data, output):
    return torch.allclose(output, ref_kernel(data), rtol=1e-2, atol=1e-2)
"""
FIRST = '''
    copied = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry copied(.param .u64 x, .param .u64 y)
{
    .reg .f32 %f<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.global.f32 %f1, [%rd1];
    st.global.f32 [%rd2], %f1;
    ret;
}
"""
    kit.launch("copied", 1, 1, kit.u64(x), kit.u64(y), ptx=copied)'''
SMALL = "LOGARITHMS.replace(b'0f3F317218', b'0f3A35B452').replace(b'0f40A00000', b'0f00000000')"
LOGARITHMS = f'kit.launch("logarithms", BLOCKS, 256, kit.u64(x), kit.u64(y), ptx={SMALL})'
WRITES = {
    "honest": (LOGARITHMS.replace("BLOCKS", "16"), "pass"),
    "half": (f"kit.fill(y, 0, 4096); {LOGARITHMS.replace('BLOCKS', '8')}", "unproven"),
    "zeros": ("kit.fill(y, 0, 4096)", "unproven"),
    "constant": ("kit.fill(y, 0xB8D1B717, 4096)", "unproven"),
}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("write", WRITES)
def test_numbers_that_the_check_accepts_without_the_inputs_are_unproven(
    native: Path, tmp_path: Path, write: str
) -> None:
    """Beside a number that depends on the inputs, so that zeros and the answer to other inputs are rejected."""
    assert (native / "sim").is_dir()
    statement, verdict = WRITES[write]
    task, submission = made(tmp_path, REFERENCE, statement + FIRST)
    result = benchguard.grade(task, submission, driver="sim", cases=("test.0",), samples=14)
    assert result.verdict == verdict, result.reason
    assert ("nearer to the answer to other inputs" in result.reason) == (verdict == "unproven")


ROWS = """
import numpy as np
from benchguard.problem.problem import Problem

ROWS, COLUMNS = 320, 512

class Means(Problem):
    parameters = (
        {"name": "x", "type": "float", "pointer": True, "const": True},
        {"name": "y", "type": "float", "pointer": True, "const": False},
    )
    distributions = ("own",)

    def __init__(self):
        super().__init__("means")

    def reference_solution(self, x):
        return x.reshape(ROWS, COLUMNS).mean(axis=1)

    def generate_test_cases(self):
        def make():
            numbers = np.random.default_rng(self.get_seed("means")).standard_normal((ROWS, COLUMNS))
            numbers[4::5] *= 3e-5
            return (numbers.astype(np.float32).reshape(-1),)
        return [{"name": "small", "create_inputs": make}]
"""
MEANS = """
__global__ void means(const float *x, float *y) {
    float sum = 0;
    for (int i = 0; threadIdx.x % 5 < ROWS_OF_FIVE && i < 512; i++) sum += x[threadIdx.x * 512 + i];
    y[threadIdx.x] = threadIdx.x % 5 < ROWS_OF_FIVE ? sum / 512 : OTHER;
}
extern "C" void solution(const float *x, float *y) { means<<<1, 320>>>(x, y); }
"""


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("of_five", "other", "verdict"),
    [(5, "0", "pass"), (4, "0", "unproven"), (4, "1e-9f * x[threadIdx.x * 512]", "unproven")],
    ids=["all", "zeros", "nearly zeros"],
)
def test_constants_for_the_small_numbers_of_an_output_are_unproven(
    native: Path, tmp_path: Path, of_five: int, other: str, verdict: str
) -> None:
    """The tolerance is as large as the means of every fifth row, which a kernel may leave out."""
    assert (native / "sim").is_dir()
    problem, submission = tmp_path / "means.py", tmp_path / "means.cu"
    problem.write_text(ROWS)
    submission.write_text(MEANS.replace("ROWS_OF_FIVE", str(of_five)).replace("OTHER", other))
    result = benchguard.grade(problem, submission, driver="sim", cases=("small",), samples=40)
    assert result.verdict == verdict, result.reason
    assert ("20% of the numbers of y are nearly the same in all of" in result.reason) == (
        verdict == "unproven"
    )


SORTED = ROWS.replace(
    "return x.reshape", "assert (np.diff(x) >= 0).all(), 'x is not sorted'\n        return x.reshape"
).replace("numbers[4::5] *= 3e-5", "numbers = np.sort(numbers.reshape(-1)) + 100")


@pytest.mark.timeout(300)
def test_reference_that_refuses_replaced_numbers_is_noted(native: Path, tmp_path: Path) -> None:
    """Its answers to a part of the inputs narrow no tolerance then."""
    assert (native / "sim").is_dir()
    problem, submission = tmp_path / "means.py", tmp_path / "means.cu"
    problem.write_text(SORTED)
    submission.write_text(MEANS.replace("ROWS_OF_FIVE", "5").replace("OTHER", "0"))
    result = benchguard.grade(problem, submission, driver="sim", cases=("small",), samples=40)
    assert result.verdict == "pass", result.reason
    [note] = [
        each for each in result.cases[0].notes if "does not run on inputs with replaced numbers" in each
    ]
    assert note.endswith("AssertionError: x is not sorted)")


STEP = """
import numpy as np
from benchguard.problem.problem import Problem

class Step(Problem):
    parameters = (
        {"name": "p", "type": "float", "pointer": True, "const": False},
        {"name": "g", "type": "float", "pointer": True, "const": True},
    )
    inplace = ("p",)
    tolerances = (1e-5, 1e-4)

    def __init__(self):
        super().__init__("step")

    def reference_solution(self, p, g):
        return p - 1e-6 * g

    def generate_test_cases(self):
        def make():
            random = np.random.default_rng(self.get_seed("step"))
            return (
                (0.02 * random.standard_normal(4096)).astype(np.float32),
                random.standard_normal(4096).astype(np.float32),
            )
        return [{"name": "small", "create_inputs": make}]
"""
STEPPED = """
__global__ void step(float *p, const float *g) {
    int at = blockIdx.x * 256 + threadIdx.x;
    if (at < COMPUTED) p[at] -= 1e-6f * g[at];
}
extern "C" void solution(float *p, const float *g) { step<<<16, 256>>>(p, g); }
"""


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("computed", "verdict"), [(4096, "pass"), (2048, "unproven"), (0, "unproven")])
def test_numbers_left_as_they_were_before_the_call_are_unproven(
    native: Path, tmp_path: Path, computed: int, verdict: str
) -> None:
    """The step of an optimiser is less than the tolerance of the weights, which the call changes in place."""
    assert (native / "sim").is_dir()
    problem, submission = tmp_path / "step.py", tmp_path / "step.cu"
    problem.write_text(STEP)
    submission.write_text(STEPPED.replace("COMPUTED", str(computed)))
    result = benchguard.grade(problem, submission, driver="sim", cases=("small",), samples=40)
    assert result.verdict == verdict, result.reason
    assert ("are nearer to the numbers before the call" in result.reason) == (verdict == "unproven")
