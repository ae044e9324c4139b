"""Regrades of bundles of submissions in HIP C++, on the CPU driver's HIP functions."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from benchguard.archive import BundleError
from benchguard.errors import UsageError
from benchguard.grade.grade import grade_into
from benchguard.grade.options import GradeOptions
from benchguard.grade.regrade import regrade
from benchguard.grade.vendor import can_grade_hip
from benchguard.toolchain.errors import DriverChoiceError
from tests.conftest import ROOT
from tests.integration.test_regrade import forged
from tests.support.mixed import PROBLEM

KERNEL = ROOT / "examples" / "problems" / "submissions" / "vector_add" / "kernel.hip"
OPTIONS = GradeOptions(driver="sim", samples=8)

pytestmark = pytest.mark.skipif(
    not can_grade_hip(), reason="libcuda-over-hip.so is not built: no HIP headers"
)


def bundle_of(folder: Path, name: str, source: str) -> Path:
    (folder / name).write_text(source)
    done = grade_into(folder / "archive", PROBLEM, folder / name, OPTIONS)
    assert not done.trouble
    return folder / "archive" / "bundles" / f"{done.bundle}.json"


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("graded")
    right = KERNEL.read_text()
    return {
        "right": bundle_of(folder, "right.hip", right),
        "wrong": bundle_of(folder, "wrong.hip", right.replace("a[i] +", "a[i] -")),
        "ptx": bundle_of(folder, "right.ptx", KERNEL.with_suffix(".ptx").read_text()),
    }


@pytest.mark.parametrize(("name", "verdict"), [("right", "pass"), ("wrong", "wrong")])
def test_bundle_of_hip_is_confirmed(bundles: dict[str, Path], name: str, verdict: str) -> None:
    found = regrade(bundles[name], PROBLEM, OPTIONS)
    assert (found.confirmed, found.stored, found.verdict) == (True, verdict, verdict), found.reason
    assert found.result.submission.language == "hip"


def test_edited_verdict_of_a_bundle_of_hip_is_not_confirmed(bundles: dict[str, Path], tmp_path: Path) -> None:
    def change(_: Any, result: Any) -> None:
        result.update(verdict="pass", reason="")
        result["cases"][0].update(verdict="pass", reason="")

    shutil.copytree(bundles["wrong"].parents[1], tmp_path / "archive")
    found = regrade(forged(tmp_path / "archive", bundles["wrong"].name, change), PROBLEM, OPTIONS)
    assert not found.confirmed and "the regrade's is wrong" in found.reason


@pytest.mark.parametrize(("name", "language"), [("right", "ptx"), ("ptx", "hip")])
def test_bundle_that_claims_the_other_vendor_is_refused(
    bundles: dict[str, Path], tmp_path: Path, name: str, language: str
) -> None:
    def change(_: Any, result: Any) -> None:
        result["submission"]["language"] = language

    shutil.copytree(bundles[name].parents[1], tmp_path / "archive")
    with pytest.raises(BundleError, match="another vendor's driver") as refused:
        regrade(forged(tmp_path / "archive", bundles[name].name, change), PROBLEM, OPTIONS)
    assert "\n" not in str(refused.value)


def test_option_and_driver_for_cuda_alone_are_refused_for_a_bundle_of_hip(bundles: dict[str, Path]) -> None:
    with pytest.raises(UsageError, match="--cordon-device cannot be used with a submission in HIP"):
        regrade(bundles["right"], PROBLEM, OPTIONS, cordon_device=True)
    with pytest.raises(DriverChoiceError, match="a HIP driver, but a CUDA driver is needed"):
        regrade(bundles["ptx"], PROBLEM, OPTIONS, driver="hip-sim")
