"""Outputs begin with zeros in Tensara's form, and with noise in the form of this project."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchguard.problem import suite as suites
from benchguard.problem.load import load

from .written import HEAD, write

TENSARA = HEAD.replace("from benchguard import Problem", "from problem import Problem")
ZEROED, NOISY = ("y",), ()


def case_of(folder: Path, body: str, head: str = TENSARA) -> suites.TestCase:
    (case,) = load(f"{write(folder, body, head)}:Written").cases
    return case


@pytest.mark.parametrize(
    ("head", "body", "zeroed"),
    [
        (TENSARA, "pass", ZEROED),
        (HEAD, "pass", NOISY),
        (TENSARA, "zero_outputs = False", NOISY),
        (HEAD, "zero_outputs = True", ZEROED),
    ],
    ids=["Tensara's", "own", "Tensara's, which declines", "own, which asks"],
)
def test_base_class_decides_what_outputs_begin_with(
    tmp_path: Path, head: str, body: str, zeroed: tuple[str, ...]
) -> None:
    case = case_of(tmp_path, f"class Written(Base):\n    {body}\n", head)
    inputs = case.inputs(1, "own")
    assert case.spec.unseeded == zeroed and inputs.keys() == {"x", *zeroed}
    assert {each.name: each.role for each in case.spec.checked} == {"y": "inout" if zeroed else "output"}
    assert not any(inputs[name].any() for name in zeroed)


@pytest.mark.parametrize(
    "body",
    [
        "def reference_solution(self, x): return 0 * x",
        "tolerances = (100, 0)",
        "def verify_result(self, expected, actual): return abs(actual - expected).max() < 100, {}",
        "def get_outputs(self, test_case): return [((256,), 'float')]\n    tolerances = (100, 0)",
    ],
    ids=["answer", "tolerances", "verify_result", "get_outputs"],
)
def test_outputs_begin_with_noise_where_zeros_are_accepted(tmp_path: Path, body: str) -> None:
    case = case_of(tmp_path, f"class Written(Base):\n    {body}\n")
    assert case.spec.checked[0].role == "output" and case.inputs(1, "own").keys() == {"x"}


def test_verify_result_that_fails_for_zeros_does_not_refuse_the_problem(tmp_path: Path) -> None:
    case = case_of(
        tmp_path,
        """
        class Written(Base):
            def verify_result(self, expected, actual):
                return True, {"share": 1 // int(abs(actual).max())}
        """,
    )
    assert case.spec.checked[0].role == "inout"


def test_second_output_and_input_in_place_are_compared_untouched(tmp_path: Path) -> None:
    case = case_of(
        tmp_path,
        """
        class Written(Base):
            parameters = [buffer("x"), buffer("y"), buffer("places", "int")]
            inplace = ("x",)
            def reference_solution(self, x):
                return x, 0 * x, np.argsort(x).astype(np.int32)
        """,
    )
    inputs = case.inputs(1, "own")
    assert [each.role for each in case.spec.checked] == ["inout"] * 3
    assert case.spec.unseeded == ("y", "places") and inputs["x"].any() and not inputs["places"].any()
