"""The kernels as PTX, for what the CPU driver cannot show."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT

ENGINE = ROOT / "engine" / "inline"
TARGETS = (80, 90)
SOURCES = ("kernels.cu", "kernels.h", "compare.cuh", "keystream.cuh", "make.sh")


def kernel(target: int, name: str) -> str:
    text = (ENGINE / f"kernels_{target}.ptx").read_text()
    match = re.search(rf"\.visible \.entry {name}\(.*?\n}}\n", text, re.DOTALL)
    assert match is not None
    return match[0]


@pytest.mark.parametrize("target", TARGETS)
def test_discard_drops_whole_lines(target: int) -> None:
    """PTX wants addresses that are multiples of 128: the step from thread to thread is one line."""
    text = kernel(target, "nb_discard")
    (address,) = re.findall(r"discard\.global\.L2 \[(%rd\d+)\], 128;", text)
    shift = re.search(r"shl\.b64\s+(%rd\d+), %rd\d+, 7;", text)
    assert shift is not None
    assert re.search(rf"add\.s64\s+{address}, {shift[1]}, ", text)


@pytest.mark.parametrize("target", TARGETS)
def test_restore_kernel_uses_all_multiprocessors(target: int) -> None:
    """A grid's barrier before the stamp."""
    text = kernel(target, "nb_restore_canaries")
    assert text.index("%envreg") < text.index("%globaltimer")


def test_check_kernel_waits_for_earlier_work() -> None:
    text = kernel(90, "nb_check_output")
    assert text.index("griddepcontrol.wait;") < text.index("ld.volatile")
    assert "griddepcontrol" not in (ENGINE / "kernels_80.ptx").read_text()


@pytest.mark.parametrize("target", TARGETS)
def test_tolerance_bounds_are_not_fused(target: int) -> None:
    assert not re.search(r"\bfma\.", kernel(target, "nb_check_output"))


@pytest.mark.parametrize("target", TARGETS)
def test_kernels_target_cuda_12_drivers(target: int) -> None:
    text = (ENGINE / f"kernels_{target}.ptx").read_text()
    assert re.search(r"^\.version 7\.8$", text, re.MULTILINE)
    assert re.search(rf"^\.target sm_{target}$", text, re.MULTILINE)
    assert ".func" not in text


def test_checked_in_ptx_matches_the_source(tmp_path: Path) -> None:
    if not (shutil.which("nvcc") and shutil.which("ptxas")):
        pytest.skip("no nvcc here")
    version = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout
    if "release 13.0" not in version:
        pytest.skip("nvcc of another version")
    folder = tmp_path / "inline"
    folder.mkdir()
    for name in SOURCES:
        shutil.copy(ENGINE / name, folder / name)
    subprocess.run(["sh", "make.sh"], cwd=folder, check=True, timeout=200)
    for target in TARGETS:
        name = f"kernels_{target}.ptx"
        assert (folder / name).read_text() == (ENGINE / name).read_text()
