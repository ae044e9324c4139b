"""Submissions of every language, called by the runner: both regions, their ranges, and what they replay to."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchguard import Capture
from tests.integration.quarantined import Case, Ran, call, range_list, saxpy, saxpy_case

KERNEL = """
__global__ void solution(const float *x, const float *z, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i] + z[i];
}
"""
NUMBA = """
from numba import cuda

@cuda.jit
def kernel(x, z, y, n):
    i = cuda.grid(1)
    if i < n:
        y[i] = 2 * x[i] + z[i]

def solution(x, z, y, n):
    kernel[(n + 127) // 128, 128](x, z, y, n)
"""
RETURNED = """
import numpy as np
from numba import cuda
import warnings

@cuda.jit
def kernel(x, z, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = 2 * x[i] + z[i]

def solution(x, z, n):
    y = cuda.device_array(n, np.float32)
    kernel[(n + 127) // 128, 128](x, z, y)
    return y
"""
RANGES = [
    ("x", "INPUT", 4000, "float32", (1000,)),
    ("z", "INPUT", 4000, "float32", (1000,)),
    ("y", "OUTPUT", 4000, "float32", (1000,)),
]


@pytest.fixture
def case(native: Path) -> Case:
    assert (native / "sim").is_dir()
    return saxpy_case()


def assert_right(ran: Ran, case: Case, launches: int = 1) -> None:
    """Two regions that replay rightly on inputs that the submission never saw."""
    ran.assert_finished()
    assert ran.phases[1:] == [("warm-up", 0), ("record", 0)]
    assert len(ran.captures) == 2
    for number, path in enumerate(ran.captures):
        with Capture.open(path) as capture:
            assert capture.meta["region"] == f"0/{number}"
            assert not capture.refusals
            assert [each.kind.name for each in capture.operations] == ["LAUNCH"] * launches
        assert range_list(path) == RANGES
        fresh = case.sets[2]
        assert ran.replayed(number, fresh) == saxpy(fresh)


def test_a_python_function_that_writes_what_it_is_given(tmp_path: Path, case: Case) -> None:
    pytest.importorskip("numba_cuda", reason="comes with the extra examples")
    assert_right(call(tmp_path, NUMBA, case), case)


def test_a_python_function_that_returns(tmp_path: Path, case: Case) -> None:
    pytest.importorskip("numba_cuda", reason="comes with the extra examples")
    ran = call(tmp_path, RETURNED, case)
    assert_right(ran, case)


def test_a_kernel_in_cuda(tmp_path: Path, case: Case) -> None:
    assert_right(call(tmp_path, KERNEL, case, language="cuda"), case)


FIVE_LINES = """
import ctypes

cuda = ctypes.CDLL("libcuda.so.1")

def solution(x, z, y, n):
    assert cuda.cuMemcpyDtoDAsync_v2(ctypes.c_uint64(y.data_ptr()), ctypes.c_uint64(x.data_ptr()),
                                     ctypes.c_size_t(y.nbytes), None) == 0
"""


@pytest.mark.parametrize(
    ("submission", "phase", "text"),
    [
        ("def solution(:", "import", "submission.py:1: SyntaxError: invalid syntax"),
        ("import nothing_of_the_kind", "import", "submission.py:1: ModuleNotFoundError: No module named "),
        ("def add(): ...\nX = 1", "import", "submission.py has no solution; it has add; name one solution"),
        ("solution = 1", "import", "solution in submission.py cannot be called"),
        ("import sys\nsys.exit(3)", "import", "the submission called exit(3)"),
        ("def solution(*_):\n    return 1 / 0", "warm-up", "submission.py:2: ZeroDivisionError: "),
        ("def solution(x): ...", "warm-up", "TypeError: solution() takes 1 positional argument but 4 were"),
        ("def solution(*_):\n    return 'y'", "warm-up", "y was returned as str, which is no array"),
        ("def solution(*_):\n    return 1, 2", "warm-up", "2 values were returned; return y, or None"),
        ("def solution(x, z, y, n):\n    return x", "warm-up", "y was returned in the memory of x"),
        (
            "calls = 0\ndef solution(*_):\n    global calls\n    calls += 1\n    assert calls < 4, 'late'",
            "record",
            "submission.py:5: AssertionError: late",
        ),
    ],
)
def test_python_that_breaks(tmp_path: Path, case: Case, submission: str, phase: str, text: str) -> None:
    broke = call(tmp_path, submission, case).broke
    assert broke.phase == phase
    assert text in broke.text
    assert not broke.unreplayable
