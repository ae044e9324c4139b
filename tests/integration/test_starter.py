"""Starters of the example problems compile and run on the CPU driver, and only their outputs are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchguard.cli.starter import text_of
from benchguard.grade.grade import grade
from benchguard.problem import starter as written
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


REDUCTION = """
import torch
from problem import Problem

class Last(Problem):
    parameters = [
        {"name": "x", "type": "float", "pointer": True, "const": True},
        {"name": "dim", "type": "int", "pointer": False, "const": False},
        {"name": "y", "type": "float", "pointer": True, "const": False},
        {"name": "shape", "type": "size_t", "pointer": True, "const": True},
        {"name": "ndim", "type": "size_t", "pointer": False, "const": False},
    ]

    def __init__(self):
        super().__init__(name="last")

    def reference_solution(self, x, dim):
        sums = x.sum(dim)
        return torch.where(torch.arange(sums.numel()).reshape(sums.shape) == sums.numel() - 1, sums, 7)

    def generate_test_cases(self):
        cases = (((7, 3, 40), 1), ((30, 20), 0), ((2, 3, 4, 5), 3))
        return [
            {
                "name": str(shape),
                "shape": shape,
                "create_inputs": lambda shape=shape, dim=dim: (torch.rand(shape, device="cuda"), dim),
            }
            for shape, dim in cases
        ]

    def verify_result(self, expected, actual):
        wrong = int((expected.float() - actual.float()).abs().gt(1e-3).logical_or(actual.isnan()).sum())
        return wrong == 0, {"wrong": wrong}

    def get_extra_params(self, test_case):
        return [torch.tensor(test_case["shape"], dtype=torch.int64MADE), len(test_case["shape"])]
"""


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("made", ["", ', device="cuda"'], ids=["host", "device"])
@pytest.mark.parametrize("covers", [True, False])
def test_starter_covers_an_output_whose_size_is_in_a_shape(
    made: str, covers: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The starter writes 7, which is right but for one element, so other wrong elements have not been written."""
    pytest.importorskip("torch", reason="comes with the extra torch")
    monkeypatch.setattr(written, "THREADS_MAX", 64)  # fewer than elements
    problem, submission = tmp_path / "last.py", tmp_path / "starter.cu"
    problem.write_text(REDUCTION.replace("MADE", made))
    text = text_of(str(problem), "cuda", "").replace("float{}", "7")
    assert text.count("product_of_lengths(shape, ndim, dim)") == (3 if not made else 1)
    if not covers:
        text = text.replace("if (i < ", "if (i < 1 && i < ").replace("size_t at = i", "size_t at = i + 1")
    submission.write_text(text)
    result = grade(problem, submission, cases=("(7, 3, 40)",), driver="sim", samples=8, cold="none")
    assert result.verdict == "wrong", (result.reason, result.output)
    assert ("{'wrong': 1}" in result.reason) == covers, result.reason
