"""Without a GPU and without options, every example problem ends in a pass, and so do the README's headline commands."""

from __future__ import annotations

from pathlib import Path

import pytest

import benchguard
from benchguard.quarantine.runner.compilers import find_nvcc
from tests.conftest import ROOT

PROBLEMS = ROOT / "examples" / "problems"
NAMES = sorted(path.stem for path in PROBLEMS.glob("*.py") if path.stem != "declare")
QUICK = {"vector_add", "matmul"}


def submission(name: str) -> Path:
    folder = PROBLEMS / "submissions" / name
    if find_nvcc() is not None:
        return folder / "cuda.cu"
    found = [*folder.glob("*.ptx"), *folder.glob("numba_*.py")]
    if not found:
        pytest.skip("nvcc is not installed; it compiles host code in CUDA C++")
    return found[0]


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=[] if each in QUICK else pytest.mark.nightly) for each in NAMES]
)
def test_example_with_default_options_passes_its_smallest_case(native: Path, name: str) -> None:
    assert (native / "sim").is_dir()
    result = benchguard.grade(PROBLEMS / f"{name}.py", submission(name), driver="sim")
    assert result.verdict == "pass", result.reason
    assert [case.name for case in result.cases] == ["small"]
    assert (
        "on the CPU driver only the smallest case is graded, small; give --case for others: large"
        in result.notes
    )
    assert result.wall_s < 60


def test_comparison_with_default_options_passes(native: Path) -> None:
    assert (native / "sim").is_dir()
    path = PROBLEMS / "submissions/vector_add/kernel.ptx"
    result = benchguard.compare(PROBLEMS / "vector_add.py", path, path, driver="sim")
    assert result.verdict == "pass" and result.call is not None, result.reason
    assert [case.name for case in result.cases] == ["small"]


@pytest.mark.nightly
def test_named_case_is_graded_on_the_cpu_driver(native: Path) -> None:
    """Control: the default does not override --case."""
    assert (native / "sim").is_dir()
    path = PROBLEMS / "submissions/vector_add/kernel.ptx"
    result = benchguard.grade(PROBLEMS / "vector_add.py", path, driver="sim", cases=("large", "small"))
    assert [case.name for case in result.cases] == ["large", "small"], result.reason
    assert not any("smallest" in note for note in result.notes)
