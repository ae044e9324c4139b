"""A leaderboard's score is a mean, which results kept on the device must not lower."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import benchguard
from tests.attacks.catalogue import KIT

TASK = """
files:
  - {"name": "submission.py", "source": "@SUBMISSION@"}
  - {"name": "reference.py", "source": "reference.py"}
lang: "py"
description: "4096 rounds of a hash"
config: {"main": "eval.py"}
tests: [{"n": 4096, "seed": 1}]
benchmarks: [{"n": 4096, "seed": 2}]
ranking_by: "geom"
"""
REFERENCE = """
import numpy as np
import torch

def generate_input(n, seed):
    return torch.randint(1, 1 << 31, (n,), dtype=torch.int32, generator=torch.Generator().manual_seed(seed))

def ref_kernel(x):
    v = x.cpu().numpy().view(np.uint32).copy()
    for _ in range(4096):
        v ^= v >> 16
        v *= np.uint32(0x7FEB352D)
        v ^= v >> 15
        v += np.uint32(0x9E3779B9)
    return torch.from_numpy(v.view(np.int32))

def check_implementation(data, output):
    return bool((ref_kernel(data) == output.cpu()).all()), "different"
"""
REMEMBERS = """
import kit

image = kit.remembering(body=f"/* }} */ .global {kit.KEPT} /* {{ */")  # a function's variable is not restored
made = []

class Result:
    def __init__(self, y):
        shape = {"shape": (4096,), "strides": None}
        self.__cuda_array_interface__ = {"typestr": "<i4", "data": (y, False), "version": 3, **shape}

def custom_kernel(x):
    made or made.append(kit.allocate(4 * 4096))
    kit.mix_remembering(x.data_ptr(), made[0], 4096, 4096, image)
    return Result(made[0])
"""

SAMPLES = 26
"""Too few on repeated inputs for the test, which wants 20 besides the 12 on one-use inputs."""


@pytest.mark.timeout(300)
def test_score_of_remembered_results_is_that_of_real_work(native: Path, tmp_path: Path) -> None:
    assert (native / "sim").is_dir()
    pytest.importorskip("torch")
    task, submission = tmp_path / "task", tmp_path / "submission"
    task.mkdir()
    (task / "task.yml").write_text(TASK)
    (task / "reference.py").write_text(REFERENCE)
    shutil.copytree(KIT, submission)
    (submission / "submission.py").write_text(REMEMBERS)
    result = benchguard.grade(task, submission, driver="sim", cases=("benchmark.0",), samples=SAMPLES)
    assert result.verdict in ("pass", "violation"), result.reason
    if result.verdict == "violation":  # the fastest one-use sample happened to be late
        assert result.score_s is None
        return
    [case] = result.cases
    assert case.time_us is not None and case.time_us.n < len(case.samples) == SAMPLES
    assert result.score_s is not None and 1e6 * result.score_s >= case.time_us.min
    assert min(case.samples) < case.time_us.min / 2 <= min(case.scored_samples)
