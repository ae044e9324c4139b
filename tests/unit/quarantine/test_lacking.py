"""A missing compiler gives no verdict about a submission. The submission's process may claim another reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchguard.quarantine import lacking
from benchguard.quarantine.contract import Broke
from benchguard.quarantine.lacking import lack_of
from benchguard.quarantine.runner.compilers import NO_HOST_COMPILER, NO_NVCC, NO_NVRTC


@pytest.mark.parametrize(
    ("text", "status", "lacks"),
    [
        (f"{NO_HOST_COMPILER}; install g++", 1, True),
        (f"{NO_HOST_COMPILER}; install g++", 0, False),
        (f"k.cu needs {NO_NVCC}", 0, False),
        (f"cannot compile k.cu: {NO_NVRTC}", 0, False),
        ("k.cu(4): error: nonsense", 1, False),
    ],
)
def test_claim_of_a_submission_counts_only_if_this_process_finds_the_same(
    text: str, status: int, lacks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvcc = tmp_path / "nvcc"
    nvcc.write_text(f"#!/bin/sh\nexit {status}\n")
    nvcc.chmod(0o755)
    monkeypatch.setattr(lacking, "find_nvcc", lambda: nvcc)
    assert bool(lack_of(Broke("compile", text))) == lacks


@pytest.mark.parametrize("text", [NO_HOST_COMPILER, NO_NVCC, NO_NVRTC])
def test_machine_without_any_compiler_lacks_each(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lacking, "find_nvcc", lambda: None)
    monkeypatch.setattr(lacking, "find_nvrtc", lambda: None)
    assert lack_of(Broke("compile", text)) == text
