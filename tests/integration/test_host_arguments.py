"""A shape that a problem in Tensara's form makes on the CPU is host memory to the submission, as in its harness."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchguard.grade.grade import grade

pytest.importorskip("torch", reason="comes with the extra torch")

PROBLEM = """
import torch
from problem import Problem

class Double(Problem):
    parameters = [
        {"name": "x", "type": "float", "pointer": True, "const": True},
        {"name": "y", "type": "float", "pointer": True, "const": False},
        {"name": "shape", "type": "size_t", "pointer": True, "const": True},
        {"name": "ndim", "type": "size_t", "pointer": False, "const": False},
    ]

    def __init__(self):
        super().__init__(name="double")

    def reference_solution(self, x):
        return 2 * x

    def generate_test_cases(self):
        return [{"name": "all", "create_inputs": lambda: (torch.rand(6, 40, device="cuda"),)}]

    def verify_result(self, expected, actual):
        return bool(torch.allclose(expected.float(), actual.float())), {}

    def get_extra_params(self, test_case):
        return [torch.tensor([6, 40], dtype=torch.int64MADE), 2]
"""
ON_HOST, ON_DEVICE = PROBLEM.replace("MADE", ""), PROBLEM.replace("MADE", ', device="cuda"')

READS_ON_HOST = """
#include <cuda_runtime.h>
__global__ void twice(const float *x, float *y, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
extern "C" void solution(const float *x, float *y, const size_t *shape, size_t ndim) {
    cudaPointerAttributes about = {};
    cudaPointerGetAttributes(&about, shape);
    if (about.type == cudaMemoryTypeDevice) return;  // the CPU driver lets host code read device memory, a GPU does not
    size_t n = 1;
    for (size_t i = 0; i < ndim; i++) n *= shape[i];
    twice<<<(n + 255) / 256, 256>>>(x, y, n);
}
"""
READS_ON_DEVICE = """
#include <cuda_runtime.h>
__global__ void twice(const float *x, float *y, const size_t *shape) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < shape[0] * shape[1]) y[i] = 2 * x[i];
}
extern "C" void solution(const float *x, float *y, const size_t *shape, size_t ndim) {
    twice<<<1, 256>>>(x, y, shape);
}
"""
KERNEL = READS_ON_DEVICE[: READS_ON_DEVICE.index('extern "C"')].replace("__global__", 'extern "C" __global__')
NEITHER = """
import numba.cuda
import numpy as np

@numba.cuda.jit
def twice(x, y):
    i, j = numba.cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        y[i, j] = 2 * x[i, j]

def solution(x, y, shape, ndim):
    assert isinstance(shape, np.ndarray) and shape.tolist() == [6, 40], shape
    twice[(1, 3), (8, 16)](x, y)
"""


@pytest.mark.parametrize(
    ("problem", "name", "submission"),
    [
        pytest.param(ON_HOST, "host.cu", READS_ON_HOST, id="host"),
        pytest.param(ON_DEVICE, "device.cu", READS_ON_DEVICE, id="device"),
        pytest.param(ON_HOST, "numbers.py", NEITHER, id="python"),
    ],
)
def test_shape_is_where_the_problem_makes_it(
    tmp_path: Path, problem: str, name: str, submission: str
) -> None:
    if name.endswith(".py"):
        pytest.importorskip("numba_cuda", reason="comes with the extra examples")
    (tmp_path / "double.py").write_text(problem)
    (tmp_path / name).write_text(submission)
    result = grade(tmp_path / "double.py", tmp_path / name, driver="sim", samples=14, cold="none")
    assert result.verdict == "pass", (result.reason, result.output)


def test_shape_on_the_device_is_not_host_memory(tmp_path: Path) -> None:
    """The control of the test above: its submission tells the two apart."""
    (tmp_path / "double.py").write_text(ON_DEVICE)
    (tmp_path / "host.cu").write_text(READS_ON_HOST)
    result = grade(tmp_path / "double.py", tmp_path / "host.cu", driver="sim", samples=14, cold="none")
    assert result.verdict == "wrong"


def test_kernel_without_host_code_gets_device_memory(tmp_path: Path) -> None:
    (tmp_path / "double.py").write_text(ON_HOST)
    file = tmp_path / "kernel.cu"
    file.write_text(
        "// launch: grid=1 block=256\n"
        + KERNEL.replace("const size_t *shape)", "const size_t *shape, size_t ndim)")
    )
    result = grade(tmp_path / "double.py", file, driver="sim", samples=14, cold="none")
    assert result.verdict == "pass", (result.reason, result.output)
