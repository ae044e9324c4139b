"""Small numbers beside large ones, which a kernel gets wrong in calls in a row only."""

from __future__ import annotations

from pathlib import Path

import pytest

import benchguard

TASK = """
files:
  - {"name": "submission.py", "source": "@SUBMISSION@"}
  - {"name": "reference.py", "source": "reference.py"}
lang: "py"
description: "numbers times 10^5, and how many different ones there are"
config: {"main": "eval.py"}
tests: [{"n": 4096, "seed": 1}]
benchmarks: [{"n": 4096, "seed": 2}]
ranking_by: "geom"
"""
REFERENCE = """
import torch

def generate_input(n, seed):
    numbers = torch.randint(0, 1 << 18, (n,), generator=torch.Generator().manual_seed(seed))
    return numbers.to(torch.int32)

def ref_kernel(x):
    return torch.cat([x.float() * 100000, torch.tensor([float(x.unique().numel())])])

def check_implementation(x, output):
    near = torch.isclose(output, ref_kernel(x), rtol=1e-6, atol=0)
    return bool(near.all()), "other numbers"
"""
SUBMISSION = """
import gc
import numpy as np
from numba import cuda

BELOW = 1 << 18

@cuda.jit
def clear(table, y, count):
    i = cuda.grid(1)
    while i < count:
        table[i] = 0
        i += 4096
    if cuda.grid(1) == 0:
        y[y.size - 1] = 0

@cuda.jit
def mark(x, table, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] * np.float32(100000)
        if cuda.atomic.exch(table, x[i], 1) == 0:
            cuda.atomic.add(y, y.size - 1, np.float32(1))

kept = []

def between_calls(phase, info):
    if phase == "stop" and kept:
        clear[16, 256](*kept, BELOW)
        cuda.synchronize()

def custom_kernel(x):
    if not kept:
        kept.extend((cuda.device_array(BELOW, np.int32), cuda.device_array(x.size + 1, np.float32)))
        clear[16, 256](*kept, BELOW)
        HOOK
    clear[16, 256](*kept, CLEARED)
    mark[(x.size + 255) // 256, 256](x, *kept)
    return kept[1]
"""
OUTSIDE = {"HOOK": "gc.callbacks.append(between_calls)", "CLEARED": "0"}
INSIDE = {"HOOK": "pass", "CLEARED": "BELOW"}


@pytest.mark.full
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("words", "verdict"),
    [pytest.param(OUTSIDE, "wrong", id="attack"), pytest.param(INSIDE, "pass", id="honest")],
)
def test_count_beside_large_numbers_is_wrong_if_its_table_is_cleared_outside_of_the_call(
    native: Path, tmp_path: Path, words: dict[str, str], verdict: str
) -> None:
    """All later outputs differ from the first ones by less than the roundings of the large numbers."""
    pytest.importorskip("torch")
    pytest.importorskip("numba")
    assert (native / "sim").is_dir()
    task, submission, text = tmp_path / "task", tmp_path / "submission.py", SUBMISSION
    task.mkdir()
    (task / "task.yml").write_text(TASK)
    (task / "reference.py").write_text(REFERENCE)
    for name, word in words.items():
        text = text.replace(name, word)
    submission.write_text(text)
    result = benchguard.grade(task, submission, driver="sim", cases=("benchmark.0",), samples=40)
    assert result.verdict == verdict, result.reason
    assert ("the memory that another call left is wrong" in result.reason) == (verdict == "wrong")
