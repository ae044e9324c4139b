"""Few elements that rounding decides are right either way; others are not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from benchguard.judge import making
from benchguard.judge.compare import CHUNK, compare
from benchguard.judge.contract import Ask, AskChecked, Checked
from benchguard.judge.nearby import RUNS, ULPS, Output, answers_nearby, are_few, is_right_nearby, shifted
from benchguard.judge.reference import expected_of
from benchguard.judge.slack import allow_for
from benchguard.problem import suite
from benchguard.problem.spec import Buffer, CaseSpec, DType, Tolerance
from tests.unit.judge.problems import Bins, Steps
from tests.unit.judge.replaying import judge, secrets_of

Answer = Callable[[np.ndarray], np.ndarray]
Arrays = Mapping[str, np.ndarray]


def result_of(problem: str, solve: Callable[[Arrays, Arrays], None]) -> Checked:
    """The judge's result for a submission, over all input sets."""
    with judge() as process:
        replaying = secrets_of(process, Ask(problem, "test"))
        for number in range(replaying.secrets.sets):
            replaying.sample(number, solve)
        process.ask(AskChecked(0))
        return process.answer(Checked)[0]


def checked(answer: Answer, output: str = "y") -> Checked:
    """The result if one output has `answer`."""

    def solve(inputs: Arrays, outputs: Arrays) -> None:
        outputs["y"][...] = outputs["steps"][...] = steps(inputs["x"])
        outputs[output][...] = answer(inputs["x"])

    return result_of("steps", solve)


def steps(x: np.ndarray) -> np.ndarray:
    return np.floor(x * np.float32(100))


def test_elements_that_rounding_decides_are_right() -> None:
    result = checked(steps)
    assert result.samples > 4 and result.wrong == 0 and result.first is None
    assert result.decided_by_rounding > 0, "no element was near the edge of a step: the test shows nothing"


def lower_precision(x: np.ndarray) -> np.ndarray:
    return np.floor(x.astype(np.float16).astype(np.float32) * np.float32(100))


def left_out(x: np.ndarray) -> np.ndarray:
    result = steps(x)
    result[1000::2000] = 0
    return result


def next_step(x: np.ndarray) -> np.ndarray:
    """Numbers in the middle of a step, where rounding decides nothing."""
    result = steps(x)
    result[np.flatnonzero(np.abs(x * 100 % 1 - 0.5) < 0.01)[:20]] += 1
    return result


def edges_below(x: np.ndarray) -> np.ndarray:
    """Quarters are in the step below: `<` in place of `<=`."""
    result = steps(x)
    result[: Steps.exact] = np.ceil(x[: Steps.exact] * 100) - 1
    return result


def no_number(x: np.ndarray) -> np.ndarray:
    result = steps(x)
    result[5000] = np.nan
    return result


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        *(("y", each) for each in (lower_precision, left_out, next_step, edges_below, no_number)),
        *(("steps", each) for each in (lower_precision, left_out, next_step, edges_below)),
    ],
)
def test_elements_that_rounding_does_not_decide_are_wrong(output: str, answer: Answer) -> None:
    result = checked(answer, output)
    assert result.wrong == result.samples and result.first is not None


def counted(off: int) -> Checked:
    """The result for counts in float32. One of them is wrong by `off`."""

    def solve(inputs: Arrays, outputs: Arrays) -> None:
        outputs["counts"][...] = Bins().native(inputs)["counts"]
        outputs["counts"][500] += off

    return result_of("bins", solve)


def test_counts_of_numbers_near_the_edges_of_bins_are_right() -> None:
    """Two of 1000 counts change for each such number: more than 1 in 1000."""
    result = counted(0)
    assert result.wrong == 0 and result.decided_by_rounding > 2 * result.samples
    assert counted(9).wrong == result.samples


def allowed(nearby: bool, answer: Answer = steps) -> dict[str, float]:
    """The factors of the tolerances for a reference whose float32 results are those of `answer`."""
    case = Steps()
    inputs = case.inputs(1, "uniform")
    expected = expected_of(case, inputs)
    baseline = {"y": answer(inputs["x"])}
    assert 0 < (baseline["y"] != expected["y"]).sum() < 50
    answers = partial(answers_nearby, case, inputs, nullcontext())
    return allow_for(case, baseline, expected, *([answers] if nearby else []))[1]


def test_sums_near_zero_of_the_reference_widen_no_tolerance() -> None:
    x = np.random.default_rng(3).uniform(-100, 100, (96, 96)).astype(np.float32)
    spec = CaseSpec("c", (Buffer("y", "float32", (96 * 96,), "output"),))
    made = cast(suite.TestCase, SimpleNamespace(spec=spec, tolerances={"y": Tolerance(2e-5, 2e-5)}))
    expected, own = {"y": power(x.astype(np.float64))}, {"y": power(x)}
    answers = ({"y": power(each["x"].astype(np.float64))} for each in shifted([POWER], {"x": x}))
    assert allow_for(made, own, expected)[1]["y"] > 20
    assert allow_for(made, own, expected, lambda: answers)[1].get("y", 1.0) < 2


def test_elements_that_rounding_decides_widen_no_tolerance() -> None:
    assert allowed(nearby=False)["y"] > 100, "a step in any element would be right"
    assert allowed(nearby=True) == {}


def test_errors_of_the_reference_that_rounding_does_not_decide_widen_the_tolerance() -> None:
    assert allowed(nearby=True, answer=next_step)["y"] > 100


@pytest.mark.parametrize("limit", [1000, 1 << 24])
def test_answers_nearby_narrow_no_tolerance_of_a_large_case(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Own(Steps):
        def baseline(self, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
            return {"y": steps(inputs["x"])}

    monkeypatch.setattr(making, "ELEMENTS_NEARBY", limit)
    case = cast(suite.TestCase, Own())
    inputs = case.inputs(1, "uniform")
    _, factors = making._with_factors(case, inputs, expected_of(case, inputs))
    assert (factors.get("y", 1.0) > 100) == (limit == 1000)


def output(
    actual: list[float], expected: list[float], dtype: DType = "float32", atol: float = 1e-3
) -> tuple[Output, np.ndarray]:
    stored, targets = np.array(actual, dtype), np.array(expected, "float64" if dtype == "float32" else dtype)
    tolerance = Tolerance(atol, 0.0) if dtype == "float32" else Tolerance()
    buffer = Buffer("y", dtype, (len(actual),), "output")
    return Output(buffer, stored, tolerance, compare(stored, targets, dtype, tolerance)), targets


@pytest.mark.parametrize(
    ("actual", "answer", "is_right"),
    [
        (7.0, 7.0, True),
        (5.5, 7.0, True),  # two decisions of a sum of many
        (7.0005, 7.0, True),
        (7.1, 7.0, False),
        (3.9, 7.0, False),
        (np.nan, 7.0, False),
        (np.inf, 7.0, False),
        (7.0, np.inf, False),
        (7.0, np.nan, False),
    ],
)
def test_wrong_float_is_right_between_the_answers(actual: float, answer: float, is_right: bool) -> None:
    ones = [1.0] * 2000
    given, expected = output([*ones, actual], [*ones, 4])
    assert is_right_nearby([given], {"y": expected}, [{"y": np.array([*ones, answer])}]) is is_right


@pytest.mark.parametrize("special", [0.0, 1e-40, 1.0, 3e38, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("other", [0.0, 1e-40, 1.0, 1.01, 3e38, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("place", [0, CHUNK - 1, CHUNK, CHUNK + 7])
def test_every_wrong_element_is_looked_at_again_wherever_it_is(
    special: float, other: float, place: int
) -> None:
    """An answer that equals the output excuses finite elements, and nothing else."""
    actual, expected = np.ones(CHUNK + 8, np.float32), np.ones(CHUNK + 8)
    actual[place], expected[place] = special, other
    tolerance = Tolerance(1e-3, 1e-3)
    compared = compare(actual, expected, "float32", tolerance)
    given = Output(Buffer("y", "float32", (CHUNK + 8,), "output"), actual, tolerance, compared)
    is_finite = bool(np.isfinite(special) and np.isfinite(other))
    answers = [{"y": actual.astype(np.float64)}]
    assert is_right_nearby([given], {"y": expected}, answers) is (is_finite or not compared.wrong)
    assert not compared.wrong or not is_right_nearby([given], {"y": expected}, [{"y": expected}])


def test_wrong_element_is_looked_at_again_where_float32_would_round_its_bound_up() -> None:
    """A reference that does not run in float64 gives float32."""
    expected = np.random.default_rng(5).uniform(1, 1e6, 1 << 13).astype(np.float32)
    tolerance = Tolerance(0.0, 1e-3)
    actual = (expected.astype(np.float64) * (1 + 1e-3)).astype(np.float32)
    compared = compare(actual, expected, "float32", tolerance)
    assert 0 < compared.wrong < compared.elements, "some are rounded beyond their bounds"
    for place in np.flatnonzero(actual != expected):
        one, target = actual[place : place + 1], expected[place : place + 1]
        given = Output(
            Buffer("y", "float32", (1,), "output"), one, tolerance, compare(one, target, "float32", tolerance)
        )
        if given.comparison.wrong:
            assert not is_right_nearby([given], {"y": target}, [{"y": target}])


def test_output_of_one_float_may_be_decided_by_rounding() -> None:
    """A sum of 10,000 random numbers that nearly cancel: LeetGPU's reduction, relative tolerance 1e-5."""
    for actual, is_right in ((338.3596, True), (338.5, False)):
        given, expected = output([actual], [338.3553])
        assert are_few([given]) and given.comparison.wrong == 1
        assert is_right_nearby([given], {"y": expected}, [{"y": np.array([338.37])}]) is is_right


def test_wrong_integer_is_right_only_as_one_of_the_answers() -> None:
    for actual, is_right in ((7, True), (9, True), (5, False)):
        given, expected = output([1, actual], [1, 4], "int32")
        answers = [{"y": np.array([1, each], np.int32)} for each in (7, 9)]
        assert is_right_nearby([given], {"y": expected}, answers) is is_right


def test_few_elements_of_an_output_may_be_wrong() -> None:
    for dtype, wrong, few in (
        ("float32", 57, False),
        ("float32", 56, True),
        ("int32", 16, True),
        ("int32", 17, False),
    ):
        right = 900 - wrong
        given, _ = output([5.0] * wrong + [1.0] * right, [4.0] * wrong + [1.0] * right, dtype)  # type: ignore[arg-type]
        assert are_few([given]) is few


def test_many_elements_are_right_only_within_roundings() -> None:
    """30 of 900 elements: sums near zero, whose answers differ by 5e-6 while other elements have the size 1."""
    small, others = [2e-3] * 30, [1.0] * 870
    for error, answer, is_right in (
        (3e-5, 5e-6, True),
        (2e-4, 5e-6, False),
        (2e-3, 5e-6, False),
        (1.0, 1.0, False),
    ):
        given, expected = output([each + error for each in small] + others, small + others, atol=1e-5)
        assert given.comparison.wrong == 30
        moved = np.array([each + answer for each in small] + others)
        assert is_right_nearby([given], {"y": expected}, [{"y": moved}]) is is_right


POWER = Buffer("x", "float32", (96, 96))


def power(x: np.ndarray, operand: Callable[[np.ndarray], np.ndarray] = np.asarray) -> np.ndarray:
    """x^3 of a matrix, with `operand` applied to all operands. Its elements near zero are differences of large sums."""
    y = operand(x)
    return np.asarray(operand(y @ y) @ y).reshape(-1)


def in_tf32(x: np.ndarray) -> np.ndarray:
    bits = x.astype(np.float32).view(np.uint32) + np.uint32(0x1000)
    return np.asarray((bits & np.uint32(0xFFFFE000)).view(np.float32))


@pytest.mark.parametrize(
    ("answer", "is_right"),
    [
        (power, True),
        (lambda x: power(x[:, ::-1] @ np.eye(96, dtype=np.float32)[::-1]), True),
        (partial(power, operand=in_tf32), False),
        (lambda x: np.where(np.arange(96 * 96) % 200, power(x), 0), False),
    ],
)
def test_sums_near_zero_of_large_numbers_are_right_in_float32_only(answer: Answer, is_right: bool) -> None:
    x = np.random.default_rng(3).uniform(-100, 100, (96, 96)).astype(np.float32)
    expected, actual = power(x.astype(np.float64)), answer(x).astype(np.float32)
    tolerance = Tolerance(2e-5, 2e-5)
    compared = compare(actual, expected, "float32", tolerance)
    given = Output(Buffer("y", "float32", (96 * 96,), "output"), actual, tolerance, compared)
    assert compared.wrong > 0.001 * compared.elements
    answers = ({"y": power(each["x"].astype(np.float64))} for each in shifted([POWER], {"x": x}))
    assert (are_few([given]) and is_right_nearby([given], {"y": expected}, answers)) is is_right


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_move_by_few_units_in_the_last_place(dtype: DType) -> None:
    x = np.random.default_rng(1).standard_normal((50, 60)).astype(dtype)
    runs = list(
        shifted([Buffer("x", dtype, x.shape), Buffer("n", "int32", (3,))], {"x": x, "n": np.arange(3)})
    )
    assert len(runs) == RUNS
    moves = np.stack([(each["x"] - x) / np.spacing(np.abs(x)) for each in runs])
    assert np.abs(moves).max() <= 2 * ULPS, "a unit doubles at a power of two"
    assert (moves[::2] * moves[1::2] < 0).mean() > 0.99, "opposite shifts follow each other"
    assert 0.45 < (moves[::2] > 0).mean() < 0.55
    assert (np.ptp(moves[::2], axis=0) > 0).mean() > 0.95
    assert all(np.array_equal(each["n"], np.arange(3)) for each in runs)


def test_equal_and_opposite_numbers_stay_so() -> None:
    x = np.random.default_rng(2).standard_normal(100).astype(np.float32)
    given = np.stack([x, -x, x[::-1]])
    for each in shifted([Buffer("x", "float32", given.shape)], {"x": given}):
        moved = each["x"]
        assert np.array_equal(moved[0], -moved[1]) and np.array_equal(moved[0], moved[2][::-1])


def test_numbers_of_few_bits_and_limits_stay() -> None:
    tiny, huge = np.finfo(np.float32).smallest_subnormal, np.finfo(np.float32).max
    x = np.array([0, -0.0, 1, 0.5, -3, 1023.5, np.inf, -np.inf, np.nan, tiny * 3, huge], np.float32)
    assert not list(shifted([Buffer("x", "float32", x.shape)], {"x": x}))
    assert not list(shifted([Buffer("x", "float16", (4,))], {"x": np.ones(4, np.float16)}))
