"""Starters of the example problems compile and run on the CPU driver, and only their outputs are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchguard.grade.grade import grade
from benchguard.problem.load import load, opened, signature_of
from benchguard.problem.starter import Language, starter
from benchguard.problem.starter_sizes import output_sizes
from benchguard.toolchain.paths import HIP_BRIDGE
from tests.conftest import ROOT

PROBLEMS = ROOT / "examples" / "problems"
NAMES = sorted(path.stem for path in PROBLEMS.glob("*.py") if path.stem != "declare")
QUICK = {("argmax", "cuda"), ("histogram", "numba")}
LANGUAGES: dict[Language, str] = {"cuda": ".cu", "hip": ".hip", "numba": ".py"}
"""Those that run without a GPU. bfloat16 and float16 are not types of numba's arrays."""

WITHOUT_NUMBA = {"matmul"}


def _parameters() -> list[object]:
    return [
        pytest.param(name, language, marks=[] if (name, language) in QUICK else [pytest.mark.nightly])
        for name in NAMES
        for language in LANGUAGES
        if not (language == "numba" and name in WITHOUT_NUMBA)
    ]


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize(("name", "language"), _parameters())
def test_starter_is_wrong_only_in_its_outputs(name: str, language: Language, tmp_path: Path) -> None:
    if language == "numba":
        pytest.importorskip("numba_cuda")
    if language == "hip" and not HIP_BRIDGE.is_file():
        pytest.skip(f"{HIP_BRIDGE} is not built: no hip_runtime_api.h on this machine")
    problem = PROBLEMS / f"{name}.py"
    sizes = output_sizes([each.spec for each in load(str(problem)).cases])
    submission = tmp_path / f"starter{LANGUAGES[language]}"
    submission.write_text(starter(signature_of(*opened(str(problem))), language, sizes))
    result = grade(problem, submission, cases=("small",), driver="sim", samples=8, cold="none")
    assert result.verdict == "wrong", (result.reason, result.output)
    [case] = result.cases
    assert case.kernels and case.checks is not None and case.checks.wrong == case.checks.samples >= 8
