"""Room for rounding errors: a sum of sorted numbers needs it, and a sum that leaves numbers out exceeds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from benchguard.judge.contract import Ask, AskChecked, Checked
from benchguard.judge.process import JudgeProcess
from benchguard.judge.reference import expected_of
from benchguard.judge.rounding import TRIES, Rounding, nearer, width_of
from benchguard.problem.load import load
from benchguard.problem.spec import Buffer, Tolerance
from tests.unit.judge.replaying import secrets_of

LENGTH = 1 << 16
PROBLEM = f"""\
import numpy as np
from benchguard import Problem

class Sum(Problem):
    parameters = [
        {{"name": "x", "type": "DTYPE", "pointer": True, "const": True}},
        {{"name": "sum", "type": "DTYPE", "pointer": True, "const": False}},
    ]

    def __init__(self):
        super().__init__("sum")

    def generate_test_cases(self):
        def create_inputs():
            random = np.random.default_rng(self.get_seed("x"))
            return (2 * random.random({LENGTH}, np.float32) - 1).astype(NUMPY),
        return [{{"name": "n", "create_inputs": create_inputs}}]

    def reference_solution(self, x):
        return x.sum(keepdims=True)

    def get_outputs(self, test_case):
        return [((1,), "DTYPE")]
"""
TOLERANCES = """
    def get_tolerances(self, test_case):
        return (2e-4, 1e-5)
"""
OWN_CHECK = """
    tolerances = None

    def verify_result(self, expected, actual, dtype=None):
        apart = abs(float(expected[0]) - float(actual[0]))
        return apart <= 2e-4 + 1e-5 * abs(float(expected[0])), {"message": "too far apart"}
"""

SEED = 3
"""With it the sorted inputs lie so that each thread's numbers have one sign."""

Sum = Callable[[np.ndarray], Any]


def atomically(x: np.ndarray) -> Any:
    """16 blocks of 64 threads sum 64 numbers each, and the blocks are added one after the other."""
    threads = x.reshape(-1, 16, 64).sum(axis=0, dtype=np.float32)
    return np.cumsum(threads.sum(axis=1, dtype=np.float32), dtype=np.float32)[-1]


def left_out(x: np.ndarray) -> Any:
    """Every second number, twice."""
    return 2 * x[::2].sum(dtype=np.float64)


def first_half(x: np.ndarray) -> Any:
    return 2 * x[: len(x) // 2].sum(dtype=np.float64)


def lower_precision(x: np.ndarray) -> Any:
    """Numbers of 8 bits, as tensor cores read from bfloat16."""
    return (x.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32).sum(dtype=np.float64)


def one_by_one(x: np.ndarray) -> Any:
    return np.cumsum(x, dtype=np.float32)[-1]


def problem_file(folder: Path, rest: str = TOLERANCES, dtype: str = "float") -> Path:
    path = folder / "sum.py"
    numpy = {"float": "np.float32", "half": "np.float16"}[dtype]
    path.write_text(PROBLEM.replace("DTYPE", dtype).replace("NUMPY", numpy) + rest)
    return path


def checked(path: Path, solve: Sum, seed: int = SEED) -> Checked:
    def sample(inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]) -> None:
        outputs["sum"][...] = solve(inputs["x"])

    with JudgeProcess(60) as process:
        replaying = secrets_of(process, Ask(str(path), "problem", one_use=12, seed=seed))
        for number in range(replaying.secrets.sets):
            replaying.sample(number, sample)
        process.ask(AskChecked(0))
        return process.answer(Checked)[0]


@pytest.mark.parametrize("rest", [TOLERANCES, OWN_CHECK])
def test_sum_in_another_order_is_right_for_all_distributions_and_is_noted(tmp_path: Path, rest: str) -> None:
    result = checked(problem_file(tmp_path, rest), atomically)
    assert result.wrong == 0 and result.rounding_factor > 1, result.first


def test_exact_sum_needs_no_room(tmp_path: Path) -> None:
    result = checked(problem_file(tmp_path), lambda x: x.sum(dtype=np.float64))
    assert result.wrong == 0 and result.rounding_factor == 1


@pytest.mark.parametrize("rest", [TOLERANCES, OWN_CHECK])
@pytest.mark.parametrize("solve", [left_out, first_half, lower_precision])
def test_sum_that_leaves_numbers_or_digits_out_is_wrong(tmp_path: Path, solve: Sum, rest: str) -> None:
    result = checked(problem_file(tmp_path, rest), solve)
    assert result.wrong > result.samples / 2, result


def positive(path: Path) -> Path:
    """The same problem with numbers from 0.9 to 1.1."""
    path.write_text(path.read_text().replace("(2 * random.random(", "(0.9 + 0.2 * random.random("))
    return path


@pytest.mark.parametrize("rest", [TOLERANCES, OWN_CHECK.replace("1e-5", "1e-4")])
def test_sum_one_by_one_is_right_for_equal_numbers_and_is_noted(tmp_path: Path, rest: str) -> None:
    result = checked(positive(problem_file(tmp_path, rest)), one_by_one)
    assert result.wrong == 0 and result.rounding_factor > 5, result.first


@pytest.mark.parametrize("solve", [left_out, first_half, lower_precision])
def test_sum_of_positive_numbers_that_leaves_some_out_is_wrong(tmp_path: Path, solve: Sum) -> None:
    result = checked(positive(problem_file(tmp_path)), solve)
    assert result.wrong > result.samples / 3, result


CUMULATIVE = """
    tolerances = None

    def reference_solution(self, x):
        return np.cumsum(x)

    def get_outputs(self, test_case):
        return [((LENGTH,), "float")]
""".replace("LENGTH", str(LENGTH))


def test_reference_in_float32_is_right_by_a_default_tolerance(tmp_path: Path) -> None:
    result = checked(problem_file(tmp_path, CUMULATIVE), lambda x: np.cumsum(x, dtype=np.float32))
    assert result.wrong == 0 and result.rounding_factor > 1, result.first


def test_sums_of_numbers_of_a_lower_precision_are_wrong_by_a_default_tolerance(tmp_path: Path) -> None:
    result = checked(
        problem_file(tmp_path, CUMULATIVE), lambda x: np.cumsum(x.astype(np.float16), dtype=np.float64)
    )
    assert result.wrong > result.samples / 3 and not result.only_others, result


def test_outputs_that_are_wrong_for_other_distributions_only_are_told_apart(tmp_path: Path) -> None:
    def of_own(x: np.ndarray) -> Any:
        """Right for random numbers only."""
        exact = x.sum(dtype=np.float64)
        return exact if abs(exact) < 6 * LENGTH**0.5 and len(np.unique(x[:4096])) > 3000 else 0

    result = checked(problem_file(tmp_path), of_own)
    assert 0 < result.wrong < result.samples / 2 and result.only_others
    assert not checked(problem_file(tmp_path), first_half).only_others


def factors(
    path: Path, distribution: str, widths: Mapping[str, float] = MappingProxyType({})
) -> list[Mapping[str, float]]:
    [case] = load(str(path)).cases

    def inputs_of(seed: int, name: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        inputs = case.inputs(seed, name)
        return inputs, expected_of(case, inputs)

    rounding = Rounding(case, lambda: ((*inputs_of(seed, "own"), widths) for seed in range(3)), nullcontext())
    found = rounding.factors(*inputs_of(7, distribution), widths)
    return [{name: float(factors.max()) for name, factors in each.items()} for each in found]


def test_room_grows_with_each_try_and_is_for_ill_conditioned_inputs_only(tmp_path: Path) -> None:
    path = problem_file(tmp_path)
    found = [each.get("sum", 1.0) for each in factors(path, "sorted")]
    assert found == sorted(found) and len(found) == 1 + TRIES and found[-1] > 10
    assert max(each.get("sum", 1.0) for each in factors(path, "shifted")) < 4


@pytest.mark.parametrize("wide", [1.0, 8.0, 1024.0])
def test_width_of_a_check_is_a_power_of_two_of_the_tolerance(wide: float) -> None:
    buffer, tolerance = Buffer("y", "float32", (3,)), Tolerance(1e-3, 1e-3)
    expected = np.array([-2.0, 0.0, 5.0])
    bounds = 1.5 * wide * (1e-3 + 1e-3 * np.abs(expected))

    def accepts(stored: np.ndarray) -> bool:
        return bool((np.abs(stored.view(np.float32) - expected) <= bounds).all())

    assert width_of(buffer, expected, tolerance, accepts) == wide


def test_wide_check_of_the_problem_gives_no_room(tmp_path: Path) -> None:
    path = problem_file(tmp_path)
    assert factors(path, "sorted", {"sum": 1.5})[-1]["sum"] > 5
    assert factors(path, "sorted", {"sum": 1e6}) == [{}] * (1 + TRIES)


TWO_SUMS = """
    def get_outputs(self, test_case):
        return [((2,), "float")]

    def reference_solution(self, x):
        return np.array([x.sum(), (x / 1e6).sum()], x.dtype)
"""


def test_sum_of_small_numbers_has_no_room_beside_one_of_large_numbers(tmp_path: Path) -> None:
    [case] = load(str(problem_file(tmp_path, TOLERANCES + TWO_SUMS))).cases

    def inputs_of(seed: int, name: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        inputs = case.inputs(seed, name)
        return inputs, expected_of(case, inputs)

    rounding = Rounding(case, lambda: ((*inputs_of(seed, "own"), {}) for seed in range(3)), nullcontext())
    *_, last = rounding.factors(*inputs_of(7, "sorted"))
    assert last["sum"][0] > 10 and last["sum"][1] == 1


def test_reference_of_a_low_precision_gives_no_room(tmp_path: Path) -> None:
    assert factors(problem_file(tmp_path, dtype="half"), "sorted") == []


def test_reference_that_fails_in_float32_gives_room_for_sums_one_by_one_only(tmp_path: Path) -> None:
    path = problem_file(tmp_path, TOLERANCES)
    wide_only = "assert x.dtype == np.float64\n        return x.sum"
    path.write_text(path.read_text().replace("return x.sum", wide_only))
    sums, *rest = factors(path, "sorted")
    assert rest == [sums] * TRIES and sums["sum"] < 4


def test_errors_divided_by_the_room_and_infinities_kept() -> None:
    buffer = Buffer("y", "float32", (4,))
    expected = np.array([1.0, 1.0, np.inf, 2.0])
    actual = np.array([5.0, 5.0, np.inf, np.nan], np.float32)
    moved = nearer(buffer, actual, expected, np.array([4.0, 1.0, 1.0, 1.0])).view(np.float32)
    np.testing.assert_array_equal(moved, np.array([2.0, 5.0, np.inf, np.nan], np.float32))
