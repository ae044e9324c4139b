"""Submissions in HIP C++, graded and compared on the CPU driver's HIP functions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchguard.errors import UsageError
from benchguard.grade.compare import compare
from benchguard.grade.grade import grade
from benchguard.grade.options import GradeOptions
from benchguard.grade.outcome import RESTORED
from benchguard.grade.result import GradeResult
from benchguard.grade.vendor import api_of
from benchguard.toolchain.paths import HIP_BRIDGE
from tests.conftest import ROOT

VECTOR_ADD = ROOT / "examples" / "problems" / "vector_add.py"
SUBMISSIONS = ROOT / "examples" / "problems" / "submissions" / "vector_add"
KERNEL, PTX = SUBMISSIONS / "kernel.hip", SUBMISSIONS / "kernel.ptx"
ATTACKS = ROOT / "tests" / "attacks"
OPTIONS = GradeOptions(driver="hip-sim", cases=("small",), samples=32)

built = pytest.mark.skipif(
    not HIP_BRIDGE.is_file(), reason=f"{HIP_BRIDGE} is not built: no hip_runtime_api.h on this machine"
)


def attacked(file: str) -> GradeResult:
    return grade(f"{ATTACKS / 'problems.py'}:Mix", ATTACKS / file, OPTIONS)


@built
def test_hip_kernel_passes_and_its_capture_is_replayed_by_hip() -> None:
    result = grade(VECTOR_ADD, KERNEL, OPTIONS)
    assert (result.verdict, result.trust) == ("pass", "replayed"), result.reason
    assert result.submission.language == "hip"
    assert [each.name for each in result.kernels] == ["solution"]
    (restored,) = [each for each in result.cases[0].evidence if each.check == RESTORED]
    assert restored.text.startswith("AMD's code is not searched")


@built
def test_hip_kernel_with_a_wrong_element_is_wrong(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.hip"
    wrong.write_text(KERNEL.read_text().replace("if (i < n)", "if (i < n && i != 77)"))
    result = grade(VECTOR_ADD, wrong, OPTIONS)
    assert result.verdict == "wrong"
    assert "1 of 1000 elements" in result.reason


@built
@pytest.mark.full
def test_hip_kernel_honest_for_a_time_is_wrong() -> None:
    result = attacked("attacks/19_wall_clock.hip")
    assert result.verdict == "wrong", result.reason


@built
@pytest.mark.full
@pytest.mark.parametrize("file", ["honest/mix.hip", "attacks/17_by_content_global.hip"])
def test_hip_time_is_that_of_one_use_inputs(file: str) -> None:
    """A kernel that keeps results in a global finds none for inputs that are used once."""
    result = attacked(file)
    assert result.verdict == "pass", result.reason
    assert any("on one-use inputs only: AMD's code is not searched" in each for each in result.cases[0].notes)


@built
@pytest.mark.full
def test_hip_compile_error_fails_with_the_compilers_line(tmp_path: Path) -> None:
    broken = tmp_path / "broken.hip"
    broken.write_text(KERNEL.read_text().replace("a[i] +", "a[i] missing"))
    result = grade(VECTOR_ADD, broken, OPTIONS)
    assert result.verdict == "failed"
    assert "broken.hip(" in result.reason and "error" in result.reason


@built
@pytest.mark.full
def test_hip_host_function_fails_before_a_call(tmp_path: Path) -> None:
    host = tmp_path / "host.hip"
    host.write_text('extern "C" void solution(const float *a, const float *b, float *c, size_t n) {}\n')
    result = grade(VECTOR_ADD, host, OPTIONS)
    assert result.verdict == "failed"
    assert "is a host function, which hiprtc does not compile" in result.reason


@built
@pytest.mark.full
def test_comparison_of_hip_kernels_names_the_wrong_side(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.hip"
    wrong.write_text(KERNEL.read_text().replace("a[i] +", "a[i] -"))
    honest = compare(VECTOR_ADD, KERNEL, KERNEL, OPTIONS, blocks=3)
    assert (honest.verdict, honest.reason) == ("pass", "")
    result = compare(VECTOR_ADD, KERNEL, wrong, OPTIONS, blocks=3)
    assert (result.call, result.verdict) == (None, "wrong")
    assert result.reason.startswith("B (")


@pytest.mark.parametrize(
    "changes",
    [{"inline": True}, {"cordon_device": True}, {"forbid_library": ("x",)}, {"allow_images": ("x",)}],
)
def test_option_for_cuda_alone_is_refused_for_hip(changes: dict[str, object]) -> None:
    options = replace(GradeOptions(), **changes)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="cannot be used with a submission in HIP"):
        api_of(options, KERNEL)
    assert api_of(options, PTX) == "cuda"


def test_comparison_of_two_vendors_is_refused() -> None:
    with pytest.raises(UsageError, match="compare two of one vendor"):
        api_of(GradeOptions(), KERNEL, PTX)
