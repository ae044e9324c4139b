"""An input that is the right answer as it is, returned without any work."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

import pytest

import benchguard
from tests.attacks.catalogue import KIT

PROBLEM = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return RIGHT

def get_inputs():
    return [torch.rand(64, 128)]

def get_init_inputs():
    return []
"""
SUBMISSION = '''
import kit

COPIED = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry copied(.param .u64 x, .param .u64 y)
{
    .reg .f32 %f<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %r3, %r1, 256, %r2;
    mul.wide.u32 %rd3, %r3, 4;
    add.u64 %rd1, %rd1, %rd3;
    add.u64 %rd2, %rd2, %rd3;
    ld.global.f32 %f1, [%rd1];
    max.f32 %f1, %f1, 0f00000000;
    st.global.f32 [%rd2], %f1;
    ret;
}
"""

class Array:
    def __init__(self, address, shape, strides):
        strides = tuple(4 * each for each in strides)
        facts = {"shape": shape, "strides": strides, "typestr": "<f4", "version": 3}
        self.__cuda_array_interface__ = {**facts, "data": (address, False)}

class ModelNew:
    def __init__(self):
        self.memory = kit.allocate(4 * 64 * 128)

    def __call__(self, x):
        own = self.memory
        kit.launch("copied", GRID, 256, kit.u64(x.data_ptr()), kit.u64(own), ptx=COPIED)
        return RESULT
'''
RELU, TURNED = "torch.relu(x)", "torch.relu(x).T.contiguous()"
CASES = {  # the reference, blocks of the kernel, the result, and the verdict
    "input": (RELU, 1, "Array(x.data_ptr(), (64, 128), (128, 1))", "unproven"),
    "view": (TURNED, 1, "Array(x.data_ptr(), (128, 64), (1, 128))", "unproven"),
    "one of two": (
        f"{RELU}, {RELU}", 32, "(Array(x.data_ptr(), (64, 128), (128, 1)), Array(own, (64, 128), (128, 1)))", "unproven"
    ),
    "honest": (RELU, 32, "Array(own, (64, 128), (128, 1))", "pass"),
    "honest view": (TURNED, 32, "Array(own, (128, 64), (1, 128))", "pass"),
}  # fmt: skip


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", CASES)
def test_input_that_is_right_before_the_call_is_unproven(native: Path, tmp_path: Path, name: str) -> None:
    """The largest of 0 and a number between 0 and 1 is the number."""
    assert (native / "sim").is_dir()
    pytest.importorskip("torch")
    right, grid, result, verdict = CASES[name]
    problem, submission = tmp_path / "relu.py", tmp_path / "submission"
    problem.write_text(PROBLEM.replace("RIGHT", right))
    shutil.copytree(KIT, submission)
    code = SUBMISSION.replace("GRID", str(grid)).replace("RESULT", result)
    (submission / "submission.py").write_text(code)
    graded = benchguard.grade(problem, submission, driver="sim", samples=14)
    assert graded.verdict == verdict, graded.reason
    assert ("nothing shows that the call computes it" in graded.reason) == (verdict != "pass")


TASK = """
files:
  - {"name": "submission.py", "source": "@SUBMISSION@"}
  - {"name": "reference.py", "source": "reference.py"}
lang: "py"
description: "numbers a little larger"
config: {"main": "eval.py"}
tests: [{"n": 64, "seed": 1}]
benchmarks: [{"n": 64, "seed": 2}]
ranking_by: "geom"
"""
REFERENCE = """
import torch

def generate_input(n, seed):
    return torch.rand(n, 128, generator=torch.Generator().manual_seed(seed))

def ref_kernel(x):
    return x * FACTOR

def check_implementation(data, output):
    return torch.allclose(output, ref_kernel(data), rtol=1e-2, atol=1e-2)
"""
MADE_ONCE = """
made = []

def custom_kernel(x):
    made or made.append(ModelNew())
    return made[0](x)
"""
INPUT, OWN = (f"Array({each}, (64, 128), (128, 1))" for each in ("x.data_ptr()", "own"))
OF_OWN_CHECK = {  # the reference's factor, where the kernel writes, the result, and the verdict
    "input": (1.001, "own", INPUT, "unproven"),
    "honest": (1.001, "own", OWN, "pass"),
    "honest in place": (0.5, "x.data_ptr()", INPUT, "pass"),
}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", OF_OWN_CHECK)
def test_input_that_the_problems_own_check_accepts_is_unproven(
    native: Path, tmp_path: Path, name: str
) -> None:
    """The input is off by more than the tolerance of its dtype, and by less than the check permits."""
    assert (native / "sim").is_dir()
    pytest.importorskip("torch")
    factor, target, result, verdict = OF_OWN_CHECK[name]
    task, submission = tmp_path / "task", tmp_path / "submission"
    task.mkdir()
    (task / "task.yml").write_text(TASK)
    (task / "reference.py").write_text(REFERENCE.replace("FACTOR", str(factor)))
    shutil.copytree(KIT, submission)
    code = (
        SUBMISSION.replace("GRID", "32")
        .replace("RESULT", result)
        .replace("kit.u64(own)", f"kit.u64({target})")
    )
    number = struct.pack(">f", factor).hex().upper()
    code = code.replace("max.f32 %f1, %f1, 0f00000000", f"mul.f32 %f1, %f1, 0f{number}")
    (submission / "submission.py").write_text(code + MADE_ONCE)
    graded = benchguard.grade(task, submission, driver="sim", cases=("test.0",), samples=14)
    assert graded.verdict == verdict, graded.reason
    assert ("nothing shows that the call computes it" in graded.reason) == (verdict != "pass")
