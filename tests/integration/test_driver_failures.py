"""A driver that fails is the machine's fault. A submission cannot claim such a failure."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from benchguard.errors import BenchguardError
from benchguard.grade.grade import grade
from benchguard.grade.result import GradeResult
from benchguard.quarantine import lacking
from benchguard.quarantine.runner.compilers import NO_NVCC, find_nvcc
from benchguard.quarantine.sandbox import environment as of_quarantine
from benchguard.quarantine.watch import ShortageError
from benchguard.replay import driver_check
from benchguard.replay import environment as of_replay
from benchguard.replay.driver_check import check_seconds
from tests.support.mixed import HONEST, KINDS, PROBLEM

Fail = Callable[..., None]
PYTHON = KINDS["launched"][1].source
CUDA = """
__global__ void add(const float *a, const float *b, float *c, size_t n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

extern "C" void solution(const float *a, const float *b, float *c, size_t n)
{
    add<<<(n + 127) / 128, 128>>>(a, b, c, n);
}
"""
SAMPLES = 8
NO_CONTEXT = "cuDevicePrimaryCtxRetain=fail(CUDA_ERROR_OUT_OF_MEMORY)"
needs_nvcc = pytest.mark.skipif(find_nvcc() is None, reason="there is no nvcc")


@pytest.fixture
def fail(monkeypatch: pytest.MonkeyPatch) -> Fail:
    """Let driver calls fail in the submission's process, or in the processes without a submission, or in all."""

    def inject(rules: str, *, quarantine: bool = False, clean: bool = False) -> None:
        monkeypatch.setenv("SIM_INJECT", rules)
        if quarantine:
            monkeypatch.setattr(of_quarantine, "KEPT", of_quarantine.KEPT | {"SIM_INJECT"})
        if clean:
            monkeypatch.setattr(of_replay, "_REMOVED", of_replay._REMOVED - {"SIM_INJECT"})

    return inject


def graded(folder: Path, name: str, text: str, timeout: float = 60.0) -> GradeResult:
    path = folder / name
    path.write_text(text)
    return grade(PROBLEM, path, driver="sim", samples=SAMPLES, timeout=timeout)


def test_driver_that_fails_before_the_submission_is_an_error(tmp_path: Path, fail: Fail) -> None:
    fail("cuInit=fail(CUDA_ERROR_NO_DEVICE)", quarantine=True)
    result = graded(tmp_path, "s.ptx", HONEST)
    assert (result.verdict, result.status) == ("error", 70)
    assert "cuInit returned CUDA_ERROR_NO_DEVICE" in result.reason


def test_driver_that_hangs_before_the_submission_is_an_error(tmp_path: Path, fail: Fail) -> None:
    fail("cuInit=delay(300s)", quarantine=True)
    result = graded(tmp_path, "s.ptx", HONEST, timeout=15)
    assert result.verdict == "error"
    assert "the sandbox or the driver was not ready" in result.reason


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ("cuInit=fail(999)", "device 0: cuInit returned CUDA_ERROR_UNKNOWN"),
        ("cuCtxSynchronize=fail(999)", "device 0: cuCtxSynchronize returned CUDA_ERROR_UNKNOWN"),
    ],
)
def test_driver_that_fails_later_and_still_fails_is_an_error(
    tmp_path: Path, fail: Fail, rules: str, words: str
) -> None:
    """Python's driver is set up after the import, so the submission's process cannot be believed."""
    fail(rules, quarantine=True, clean=True)
    with pytest.raises(BenchguardError, match=f"the driver of this machine does not work: {words}"):
        graded(tmp_path, "s.py", PYTHON)


@needs_nvcc
def test_driver_that_does_not_initialise_for_cuda_is_an_error(tmp_path: Path, fail: Fail) -> None:
    """nvcc has not been started yet."""
    fail("cuInit=fail(CUDA_ERROR_NO_DEVICE)", quarantine=True)
    result = graded(tmp_path, "s.cu", CUDA)
    assert (result.verdict, result.status) == ("error", 70)
    assert "cuInit returned CUDA_ERROR_NO_DEVICE" in result.reason


@needs_nvcc
def test_context_that_fails_beside_nvcc_and_still_fails_is_an_error(tmp_path: Path, fail: Fail) -> None:
    fail(NO_CONTEXT, quarantine=True, clean=True)
    with pytest.raises(
        BenchguardError, match="the driver of this machine does not work: device 0: cuDevicePr"
    ):
        graded(tmp_path, "s.cu", CUDA)


@needs_nvcc
def test_context_that_fails_beside_nvcc_only_is_the_submissions_failure(tmp_path: Path, fail: Fail) -> None:
    """nvcc reads the submission at that time, which could keep the context from being made."""
    fail(NO_CONTEXT, quarantine=True)
    result = graded(tmp_path, "s.cu", CUDA)
    assert result.verdict == "failed"
    assert "cuDevicePrimaryCtxRetain returned CUDA_ERROR_OUT_OF_MEMORY" in result.reason


@pytest.mark.parametrize("rules", ["", "cuDevicePrimaryCtxRetain=delay(5s)"])
@needs_nvcc
def test_cuda_passes_whether_context_or_nvcc_is_ready_first(tmp_path: Path, fail: Fail, rules: str) -> None:
    fail(rules, quarantine=True)
    result = graded(tmp_path, "s.cu", CUDA)
    assert result.verdict == "pass", result.reason
    if rules:
        assert result.seconds["submission: driver"] >= 5.0


def test_driver_that_fails_in_the_replay_is_an_error(tmp_path: Path, fail: Fail) -> None:
    fail("cuCtxSynchronize=fail(999)", clean=True)
    result = graded(tmp_path, "s.ptx", HONEST)
    assert result.verdict == "error"
    assert "the driver of this machine does not work: device 0: cuCtxSynchronize" in result.reason


def test_context_that_cannot_be_made_for_the_replay_is_an_error(tmp_path: Path, fail: Fail) -> None:
    """Another program may have taken all memory of the device."""
    fail("cuDevicePrimaryCtxRetain=fail(CUDA_ERROR_OUT_OF_MEMORY)", clean=True)
    assert graded(tmp_path, "s.ptx", HONEST).verdict == "error"


@pytest.mark.parametrize("error", ["CUDA_ERROR_ECC_UNCORRECTABLE", "CUDA_ERROR_NVLINK_UNCORRECTABLE"])
def test_broken_memory_in_the_replay_is_an_error(tmp_path: Path, fail: Fail, error: str) -> None:
    fail(f"cuMemcpyHtoD*=fail({error})", clean=True)
    result = graded(tmp_path, "s.ptx", HONEST)
    assert result.verdict == "error"
    assert error in result.reason


SILENT = "it did not answer within"
LIMIT_SECONDS = 60.0
"""A check that took its own time, whatever the time-out is, would end after it."""


def test_driver_that_hangs_beside_a_hanging_submission_ends_the_grade_in_time(
    tmp_path: Path, fail: Fail
) -> None:
    fail("cuInit=delay(300s)", clean=True)
    began = time.monotonic()
    result = graded(tmp_path, "s.py", HANGS, timeout=20)
    assert time.monotonic() - began < LIMIT_SECONDS
    assert result.verdict == "timeout", result.reason
    assert any(SILENT in note for note in result.notes), result.notes


def test_submission_that_fails_beside_a_silent_driver_has_failed(
    tmp_path: Path, fail: Fail, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Silence for seconds could be the work of the submission, so it buys no error."""
    fail("cuInit=delay(300s)", clean=True)
    monkeypatch.setattr(driver_check, "check_seconds", lambda *_: 2.0)
    result = graded(tmp_path, "s.py", CLAIMS)
    assert result.verdict == "failed", result.reason
    assert any(SILENT in note for note in result.notes), result.notes


def test_driver_that_hangs_in_the_replay_ends_the_grade_in_time(tmp_path: Path, fail: Fail) -> None:
    fail("cuDevicePrimaryCtxRetain=delay(300s)", clean=True)
    began = time.monotonic()
    result = graded(tmp_path, "s.ptx", HONEST, timeout=10)
    assert time.monotonic() - began < LIMIT_SECONDS
    assert result.verdict == "timeout", result.reason
    assert any(SILENT in note for note in result.notes), result.notes


def test_check_that_cannot_run_leaves_the_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A submission may have filled the machine, in files that are removed at this moment."""

    def run(*_: object) -> None:
        raise ShortageError("the machine has 300 MiB of memory left")

    monkeypatch.setattr(driver_check, "run_confined", run)
    result = graded(tmp_path, "s.py", CLAIMS)
    assert result.verdict == "failed"
    assert any("the machine has 300 MiB of memory left" in note for note in result.notes), result.notes


def test_driver_that_is_silent_for_the_whole_check_is_broken(
    tmp_path: Path, fail: Fail, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the default time-out the check has all of its time. This one is shorter, for the test."""
    fail("cuInit=delay(300s)", clean=True)
    monkeypatch.setattr(driver_check, "CHECK_SECONDS", 2.0)
    with pytest.raises(BenchguardError, match="does not work: no answer within 2 s; the run before"):
        graded(tmp_path, "s.py", CLAIMS)


@pytest.mark.parametrize(
    ("timeout", "left", "seconds"),
    [
        (10.0, -4.0, 1.0),
        (10.0, -1.0, 1.5),
        (10.0, 0.0, 2.5),
        (10.0, 9.0, 11.5),
        (60.0, -1.0, 14.0),
        (120.0, -5.0, 25.0),
        (300.0, -1.0, 30.0),
        (300.0, 200.0, 30.0),
    ],
)
def test_check_of_the_driver_has_a_share_of_the_time_out(timeout: float, left: float, seconds: float) -> None:
    assert check_seconds(timeout, left) == seconds


HANGS = """
import time


def solution(a, b, c, n):
    time.sleep(1000)
"""

CLAIMS = """
def solution(a, b, c, n):
    raise RuntimeError("cuInit returned CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)")
"""


def test_submission_that_claims_a_broken_driver_has_failed(tmp_path: Path) -> None:
    """tests/attacks/attacks/34_forged_driver.py forges events, too."""
    assert graded(tmp_path, "s.py", CLAIMS).verdict == "failed"


def test_python_that_claims_a_machine_without_nvcc_has_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lacking, "find_nvcc", lambda: None)
    text = CLAIMS.replace("cuInit returned CUDA_ERROR_NO_DEVICE", NO_NVCC)
    assert graded(tmp_path, "s.py", text).verdict == "failed"


@pytest.mark.parametrize(("name", "text"), [("s.ptx", HONEST), ("s.py", PYTHON)])
def test_submission_passes_with_a_driver_that_works(tmp_path: Path, name: str, text: str) -> None:
    assert graded(tmp_path, name, text).verdict == "pass"
