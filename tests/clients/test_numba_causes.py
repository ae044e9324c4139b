"""A failure's cause is the driver's own word where it gave one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

LINK = "E   cuda.core._utils.cuda_utils.CUDAError: CUDA_ERROR_INVALID_PTX: This indicates that a PTX JIT compilation"
REFUSED = f"{LINK} failed.\nE   Linker error log: ptx: line 8; error: line 8: unsupported PTX instruction 'frob.b32'"
CALL = "E   CUDAError: CUDA_ERROR_NOT_SUPPORTED: This error\n\nCPU driver: cuIpcGetMemHandle is not supported"
CASES = {
    REFUSED: ("unsupported PTX", "unsupported PTX instruction 'frob.b32'"),
    CALL: ("an unsupported call", "cuIpcGetMemHandle"),
    "E   cuda.bindings: function cuProfilerStart is not found": ("a call it has not got", "cuProfilerStart"),
    "E   CudaAPIError: [700] Call to x results in CUDA_ERROR_ILLEGAL_ADDRESS": (
        "an error of the driver's",
        "CUDA_ERROR_ILLEGAL_ADDRESS",
    ),
    "E       AssertionError: 1 != 2": ("a wrong result", "AssertionError: 1 != 2"),
    "E   Linker error log: libcudadevrt.a: only PTX can be linked": (
        "needs machine code or its tools",
        "libcudadevrt",
    ),
    "nothing of note": ("another error", "nothing of note"),
}


@pytest.fixture
def causes(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    import numba_causes

    yield numba_causes
    sys.modules.pop("numba_causes")


@pytest.mark.parametrize("text", CASES)
def test_failure_is_classified(causes: ModuleType, text: str) -> None:
    cause = causes.failure_cause(text)
    assert (cause.group, cause.detail) == CASES[text]


def test_missing_nvjitlink_warning_is_not_a_cause(causes: ModuleType) -> None:
    text = "RuntimeWarning: cuda.bindings.nvjitlink is not available, therefore\nE   AssertionError: 0 != 3"
    assert causes.failure_cause(text).detail == "AssertionError: 0 != 3"


@pytest.mark.parametrize(
    ("reason", "group"),
    [
        ("nvJitLink not installed or new enough (>12.3)", "needs machine code or its tools"),
        ("need more than 1 gpus", "needs what this machine has not got"),
        ("Disabled temporarily due to Issue #317", "switched off by numba-cuda itself"),
    ],
)
def test_skip_is_classified(causes: ModuleType, reason: str, group: str) -> None:
    assert causes.skip_cause(reason).group == group
