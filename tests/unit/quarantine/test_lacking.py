"""A missing compiler gives no verdict about a submission. The submission's process may claim another reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchguard.quarantine import lacking
from benchguard.quarantine.contract import Broke
from benchguard.quarantine.lacking import lack_of
from benchguard.quarantine.runner.compilers import NO_HOST_COMPILER, NO_NVCC, NO_NVRTC

SECONDS = 120.0


def broke(claim: str) -> Broke:
    return Broke("compile", "k.cu cannot be compiled", lacks=claim)


@pytest.mark.parametrize(
    ("claim", "status", "lacks"),
    [
        (NO_HOST_COMPILER, 1, True),
        (NO_HOST_COMPILER, 0, False),
        (NO_NVCC, 0, False),
        (NO_NVRTC, 0, False),
        ("", 1, False),
    ],
)
def test_claim_of_a_submission_counts_only_if_this_process_finds_the_same(
    claim: str, status: int, lacks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvcc = tmp_path / "nvcc"
    nvcc.write_text(f"#!/bin/sh\nexit {status}\n")
    nvcc.chmod(0o755)
    monkeypatch.setattr(lacking, "find_nvcc", lambda: nvcc)
    assert bool(lack_of(broke(claim), "cuda", SECONDS)) == lacks


@pytest.fixture
def without_compilers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lacking, "find_nvcc", lambda: None)
    monkeypatch.setattr(lacking, "find_nvrtc", lambda: None)


@pytest.mark.usefixtures("without_compilers")
@pytest.mark.parametrize("claim", [NO_HOST_COMPILER, NO_NVCC, NO_NVRTC])
def test_machine_without_any_compiler_lacks_each(claim: str) -> None:
    assert lack_of(broke(claim), "cuda", SECONDS) == claim


@pytest.mark.usefixtures("without_compilers")
@pytest.mark.parametrize("claim", [NO_HOST_COMPILER, NO_NVCC, NO_NVRTC])
def test_python_cannot_claim_that_the_machine_lacks_a_compiler(claim: str) -> None:
    assert lack_of(broke(claim), "python", SECONDS) == ""


@pytest.mark.usefixtures("without_compilers")
@pytest.mark.parametrize("words", [NO_HOST_COMPILER, NO_NVCC, NO_NVRTC])
def test_error_text_that_names_a_lack_claims_nothing(words: str) -> None:
    """As by #error, whose text is the compiler's first error."""
    assert lack_of(Broke("compile", f"k.cu:1:2: error: #error {words}"), "cuda", SECONDS) == ""


def test_search_that_cannot_tell_finds_no_lack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nvcc = tmp_path / "nvcc"
    nvcc.write_text("#!/bin/sh\nexec sleep 1000\n")
    nvcc.chmod(0o755)
    monkeypatch.setattr(lacking, "find_nvcc", lambda: nvcc)
    assert lack_of(broke(NO_HOST_COMPILER), "cuda", 0.1) == ""
