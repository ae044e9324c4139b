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
