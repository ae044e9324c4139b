"""Answers that hardly depend on the inputs: one stored answer must not pass, and honest kernels must."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from benchguard.judge.compare import compare
from benchguard.judge.formats import Array
from benchguard.judge.slack import Factors, widened
from benchguard.judge.stored_answers import SETS_MIN, StoredAnswers, margin_of, stored_answers
from benchguard.problem.spec import Buffer, Tolerance

SETS = 20
SHAPE = (4, 1 << 16)
TOLERANCE = Tolerance(1e-4, 1e-4)
BUFFER = Buffer("y", "float32", (SHAPE[0],), "output")


def draw(spread: float = 0.03) -> list[Array]:
    """Means of such rows differ by 1e-4, half of the tolerance, if the spread is 0.03."""
    random = np.random.default_rng(7)
    return [(1 + spread * random.random(SHAPE)).astype(np.float32) for _ in range(SETS)]


def means(inputs: Sequence[Array]) -> list[dict[str, Array]]:
    return [{"y": each.astype(np.float64).mean(axis=1)} for each in inputs]


def own_means(inputs: Sequence[Array]) -> list[Mapping[str, Array]]:
    return [{"y": each.mean(axis=1)} for each in inputs]


def found_for(
    inputs: Sequence[Array], factors: Sequence[Factors] | None = None, *, has_own: bool = True
) -> StoredAnswers:
    def baselines() -> Sequence[Mapping[str, Array]]:
        return own_means(inputs) if has_own else [{} for _ in inputs]

    given = factors or [{} for _ in inputs]
    return stored_answers([BUFFER], {"y": TOLERANCE}, means(inputs), given, baselines)


def wrong(actual: Array, expected: Array, factors: Factors) -> int:
    tolerance = widened({"y": TOLERANCE}, factors)["y"]
    return compare(actual.astype(np.float32), expected, "float32", tolerance).wrong


def in_turn(rows: Array) -> Array:
    """The mean of each row, added one after the other in float32: the least exact honest kernel."""
    return np.cumsum(rows, axis=1, dtype=np.float32)[:, -1] / np.float32(rows.shape[1])


def test_stored_answer_for_means_fails_and_honest_kernels_pass() -> None:
    inputs = draw()
    expected = [each["y"] for each in means(inputs)]
    factors = found_for(inputs).narrowed({})
    stored = np.mean(expected, axis=0)
    assert not any(wrong(stored, each, {}) for each in expected)
    assert sum(wrong(stored, each, factors) > 0 for each in expected) > SETS // 2
    for each, target in zip(inputs, expected, strict=True):
        assert wrong(each.mean(axis=1), target, factors) == 0
        assert (
            wrong(in_turn(each.reshape(-1, 1 << 10)).reshape(SHAPE[0], -1).mean(axis=1), target, factors) == 0
        )


def test_mean_of_a_part_of_the_inputs_fails() -> None:
    inputs = draw()
    factors = found_for(inputs).narrowed({})
    sampled = [each[:, ::4].mean(axis=1) for each in inputs]
    pairs = list(zip(sampled, (each["y"] for each in means(inputs)), strict=True))
    assert not any(wrong(actual, target, {}) for actual, target in pairs)
    assert any(wrong(actual, target, factors) for actual, target in pairs)


def test_answers_that_depend_on_the_inputs_keep_the_tolerance() -> None:
    assert found_for(draw(spread=4.0)) == StoredAnswers()


def test_tolerance_without_a_reference_in_the_precision_stays_and_is_reported() -> None:
    assert found_for(draw(), has_own=False) == StoredAnswers({}, ("y",))


def test_answers_equal_within_the_precision_are_reported() -> None:
    assert found_for(draw(spread=1e-6)) == StoredAnswers({}, ("y",))


def test_answers_that_are_all_the_same_keep_the_tolerance() -> None:
    assert found_for([draw()[0]] * SETS) == StoredAnswers()


def test_few_sets_keep_the_tolerance() -> None:
    assert found_for(draw()[: SETS_MIN - 1]) == StoredAnswers()


def test_tolerance_that_zeros_narrowed_is_not_narrowed_again() -> None:
    assert found_for(draw(), [{"y": 0.01} for _ in range(SETS)]) == StoredAnswers()


def test_narrowed_factor_is_the_smaller_one_by_buffer() -> None:
    limit = StoredAnswers({"y": 0.2})
    assert limit.narrowed({"y": 0.1, "z": 3.0}) == {"y": 0.1, "z": 3.0}
    assert limit.narrowed({}) == {"y": 0.2}


def test_tolerance_of_zero_has_room_for_no_honest_error_and_is_not_narrowed() -> None:
    expected = [{"y": np.ones(SHAPE[0])}]
    assert margin_of(BUFFER, Tolerance(0.0, 0.0), expected) == np.inf
    assert margin_of(BUFFER, Tolerance(0.0, 0.0), [{"y": np.zeros(SHAPE[0])}]) == 0
