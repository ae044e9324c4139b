"""A problem's own check accepts any numbers that make its residual NaN."""

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
description: "logarithms of shares, but for a constant"
config: {"main": "eval.py"}
tests: [{"n": 4096, "seed": 1}]
benchmarks: [{"n": 4096, "seed": 2}]
ranking_by: "geom"
"""
REFERENCE = """
import torch

def generate_input(n, seed):
    return torch.rand(n, generator=torch.Generator().manual_seed(seed)) + 0.5

def ref_kernel(x):
    return (x / x.sum()).log()

def check_implementation(data, output):
    shares = output.exp()
    error = (shares / shares.sum() - data / data.sum()).abs().max()
    if not torch.isfinite(output).all():
        return False, "not finite"
    return (False, "another share") if error > 1e-6 else (True, "")
"""
PROBLEM = """
import numpy as np
from benchguard.problem.problem import Problem

class Shares(Problem):
    parameters = (
        {"name": "x", "type": "float", "pointer": True, "const": True},
        {"name": "y", "type": "float", "pointer": True, "const": False},
        {"name": "n", "type": "size_t", "pointer": False, "const": False},
    )
    distributions = ("own",)

    def __init__(self):
        super().__init__("shares")

    def reference_solution(self, x):
        return np.log(x / x.sum())

    def verify_result(self, expected_output, actual_output, dtype=None):
        with np.errstate(all="ignore"):
            shares, wanted = np.exp(actual_output), np.exp(expected_output)
            error = np.abs(shares / shares.sum() - wanted / wanted.sum()).max()
        return bool(np.isfinite(actual_output).all()) and not error > 1e-6, {}

    def generate_test_cases(self):
        def make():
            return (np.random.default_rng(self.get_seed("x")).random(4096, np.float32) + np.float32(0.5),)
        return [{"name": "small", "create_inputs": make, "n": 4096}]

    def get_extra_params(self, test_case):
        return [test_case["n"]]
"""
SUBMISSION = '''
import struct
import kit

LOGARITHMS = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry logarithms(.param .u64 x, .param .u64 y)
{
    .reg .f32 %f<4>;
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
    lg2.approx.f32 %f2, %f1;
    fma.rn.f32 %f3, %f2, 0f3F317218, 0f40A00000; // ln 2, and the constant 5
    st.global.f32 [%rd2], %f3;
    ret;
}
"""
TYPE = "<f4"
made = []

def write(x, y):
    WRITE

class Result:
    def __init__(self, y):
        shape = {"shape": (4096,), "strides": None}
        self.__cuda_array_interface__ = {"typestr": TYPE, "data": (y, False), "version": 3, **shape}

def custom_kernel(x):
    made or made.append(kit.allocate(4 * 4096))
    write(x.data_ptr(), made[0])
    return Result(made[0])

def solution(x, y, n):
    write(x.data_ptr(), y.data_ptr())
'''
HONEST = 'kit.launch("logarithms", 16, 256, kit.u64(x), kit.u64(y), ptx=LOGARITHMS)'
FILLED = 'kit.fill(y, struct.unpack("<I", struct.pack("<f", NUMBER))[0], 4096)'
WRITES = {
    "honest": HONEST,
    "overflows": FILLED.replace("NUMBER", "900.0"),
    "whole numbers": 'global TYPE; TYPE = "<i4"; kit.fill(y, 900, 4096)',
    "zeros": FILLED.replace("NUMBER", "0.0"),
    "overflows just": FILLED.replace("NUMBER", "90.0") + "; kit.fill(y, 0xFF7FFFFF, 1)",
}


def made(folder: Path, reference: str, write: str) -> tuple[Path, Path]:
    """A task in GPU MODE's form, and a submission that writes its output with the statements `write`."""
    pytest.importorskip("torch")
    task, submission = folder / "task", folder / "submission"
    task.mkdir()
    (task / "task.yml").write_text(TASK)
    (task / "reference.py").write_text(reference)
    shutil.copytree(KIT, submission)
    (submission / "submission.py").write_text(SUBMISSION.replace("WRITE", write))
    return task, submission


@pytest.mark.timeout(300)
@pytest.mark.parametrize("form", ["gpumode", "problem"])
@pytest.mark.parametrize("write", WRITES)
def test_output_that_the_check_does_not_see_is_wrong(
    native: Path, tmp_path: Path, form: str, write: str
) -> None:
    """The honest answer differs from the expected numbers by a constant, which the check permits."""
    assert (native / "sim").is_dir()
    task, submission = made(tmp_path, REFERENCE, WRITES[write])
    (tmp_path / "shares.py").write_text(PROBLEM)
    problem, case = (task, "test.0") if form == "gpumode" else (tmp_path / "shares.py", "small")
    result = benchguard.grade(problem, submission, driver="sim", cases=(case,), samples=14)
    if write == "honest":
        assert (result.verdict, result.reason) == ("pass", "")
        return
    assert result.verdict == "wrong", result.reason
    if write == "overflows just":
        assert "only because it computes NaN or Inf" in result.reason
    is_unseen = write == "overflows" or (write, form) == ("whole numbers", "gpumode")
    assert ("it does not see these numbers" in result.reason) == is_unseen


ANGLE = """
import torch

def generate_input(n, seed):
    return torch.rand(n, generator=torch.Generator().manual_seed(seed)) + 0.5

def ref_kernel(x):
    return x.log()

def check_implementation(data, output):
    output, wanted = output.float(), ref_kernel(data)
    return not output @ wanted / (output.norm() * wanted.norm()) < 0.999
"""
FLOAT8 = """
    from benchguard.quarantine.runner import results
    results._dtype = lambda *_: ("uint8", "float8_e4m3fnuz")
    global TYPE; TYPE = "|u1"
    kit.fill(y, 0x80808080, 1024)"""
OTHER_DTYPES = {
    "honest": HONEST.replace("LOGARITHMS", "LOGARITHMS.replace(b'0f40A00000', b'0f00000000')"),
    "zeros": 'global TYPE; TYPE = "|b1"; kit.fill(y, 0, 1024)',
    "NaN": FLOAT8,
}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("write", OTHER_DTYPES)
def test_dtype_whose_numbers_the_check_does_not_see_is_wrong(
    native: Path, tmp_path: Path, write: str
) -> None:
    """The angle to zeros or to NaN is NaN. Neither boolean numbers nor those that the judge cannot read are scaled."""
    assert (native / "sim").is_dir()
    task, submission = made(tmp_path, ANGLE, OTHER_DTYPES[write])
    result = benchguard.grade(task, submission, driver="sim", cases=("test.0",), samples=14)
    assert result.verdict == ("pass" if write == "honest" else "wrong"), result.reason
    assert ("only because it computes NaN or Inf" in result.reason) == (write != "honest")


SAMPLED = """
import torch

def generate_input(n, seed):
    return torch.rand(n, generator=torch.Generator().manual_seed(seed)) + 0.5

def ref_kernel(x):
    return x.log()

def check_implementation(data, output):
    GENERATOR
    places = torch.randint(len(data), (16,), generator=generator)
    return torch.allclose(output[places], ref_kernel(data)[places], rtol=1e-4, atol=1e-4)
"""
GENERATORS = {
    "global": "generator = torch.manual_seed(7)",
    "own": "generator = torch.Generator(device=data.device).manual_seed(7)",
}
FORESEEN = """
    import torch
    generator = torch.Generator().manual_seed(7)
    seen = {4095, *(int(each) for each in torch.randint(4096, (16,), generator=generator))}
    unseen = [each for each in range(4096) if each not in seen]
    for each in unseen:
        kit.fill(y + 4 * each, 0, 1)"""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize("is_honest", [True, False])
def test_elements_that_the_check_will_not_draw_are_checked(
    native: Path, tmp_path: Path, generator: str, is_honest: bool
) -> None:
    """The check draws them after a seed that the submission knows."""
    assert (native / "sim").is_dir()
    written = OTHER_DTYPES["honest"] + ("" if is_honest else FORESEEN)
    task, submission = made(tmp_path, SAMPLED.replace("GENERATOR", GENERATORS[generator]), written)
    result = benchguard.grade(task, submission, driver="sim", cases=("test.0",), samples=14)
    assert result.verdict == ("pass" if is_honest else "wrong"), result.reason


LINE = """
import numpy as np
from benchguard.problem.problem import Problem

class Line(Problem):
    parameters = (
        {"name": "x", "type": "float", "pointer": True, "const": True},
        {"name": "y", "type": "float", "pointer": True, "const": False},
    )

    def __init__(self):
        super().__init__("line")

    def generate_test_cases(self):
        draw = lambda: (np.random.default_rng(self.get_seed("x")).random(4096, np.float32),)
        return [{"name": "small", "create_inputs": draw}]

    def reference_solution(self, x):
        return x * SCALE

    def verify_result(self, expected, actual):
        return not (np.abs(actual - expected) > 1e-2).any(), {}
"""
KERNEL = """// launch: grid=16 block=256
.version 7.0
.target sm_70
.address_size 64
.visible .entry solution(.param .u64 x, .param .u64 y)
{
    .reg .f32 %f<4>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    .reg .pred %p;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %r3, %r1, 256, %r2;
    mul.wide.u32 %rd3, %r3, 4;
    add.u64 %rd1, %rd1, %rd3;
    add.u64 %rd2, %rd2, %rd3;
    setp.lt.u32 %p, %r3, RIGHT;
    mov.f32 %f2, 0f7FFFFFFF;
@%p ld.global.f32 %f1, [%rd1];
@%p mul.f32 %f2, %f1, 0fSCALE;
    st.global.f32 [%rd2], %f2;
    ret;
}
"""


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("scale", "bits"), [(2.0, "40000000"), (2.0**-10, "3A800000")])
@pytest.mark.parametrize("right", [1, 2048, 4096])
def test_nan_beside_right_numbers_rejected(
    native: Path, tmp_path: Path, right: int, scale: float, bits: str
) -> None:
    """The kernel computes the first numbers, and writes NaN for the others. With the small scale zeros are accepted."""
    assert (native / "sim").is_dir()
    problem, submission = tmp_path / "line.py", tmp_path / "submission" / "kernel.ptx"
    problem.write_text(LINE.replace("SCALE", repr(scale)))
    submission.parent.mkdir()
    submission.write_text(KERNEL.replace("RIGHT", str(right)).replace("SCALE", bits))
    result = benchguard.grade(problem, submission, driver="sim", cases=("small",), samples=14)
    assert result.verdict == ("pass" if right == 4096 else "wrong"), result.reason
