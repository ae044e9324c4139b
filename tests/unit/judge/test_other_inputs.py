"""Outputs as near to the answers to other inputs as to the expected ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest

from benchguard.judge import other_inputs
from benchguard.judge.formats import Array
from benchguard.judge.other_inputs import (
    DRAWN,
    Outputs,
    are_many,
    disturbed,
    drawn,
    other_inputs_reason,
    pairs_of,
)
from benchguard.judge.samples import Place
from benchguard.problem.spec import Buffer, Tolerance

COUNT = 1 << 12
TOLERANCES = {"y": Tolerance(1e-2, 1e-2)}
PLACES = [Place(Buffer("y", "float32", (COUNT,), "output"), 0, "float32")]
Kernel = Callable[[Array], Array]


def answer(number: int, count: int = COUNT) -> Array:
    """Small numbers, and a large one that differs from set to set."""
    numbers = 1e-3 * np.random.default_rng(number).standard_normal(count)
    numbers[0] = number + 1
    return numbers


def outputs_of(kernel: Kernel, sets: int = 4) -> list[Outputs]:
    in_turn = [(each, (each + 1) % sets) for each in range(sets)]
    return [
        drawn(
            PLACES,
            {"y": kernel(answer(one)).astype(np.float32)},
            ({"y": answer(one)}, {"y": answer(other)}),
            TOLERANCES,
            7,
        )
        for one, other in (*in_turn, *(pair[::-1] for pair in in_turn))
    ]


def reason_for(kernel: Kernel, other_roundings: Kernel | None = np.float32) -> str:
    pairs = outputs_of(kernel)

    def answers(at: int) -> list[Mapping[str, Array]]:
        one = at if at < len(pairs) // 2 else (at + 1) % (len(pairs) // 2)
        return [] if other_roundings is None else [{"y": other_roundings(answer(one))}]

    return other_inputs_reason(
        pairs, lambda at: [each.within(TOLERANCES["y"]) for each in pairs[at]], answers
    )


def with_errors(share: float) -> Kernel:
    return lambda right: right + share * 1e-3 * np.random.default_rng(9).standard_normal(len(right))


def on_a_part(share: float) -> Kernel:
    return lambda right: np.where(np.arange(len(right)) < share * len(right), right, 0)


@pytest.mark.parametrize("kernel", [lambda right: 0 * right, lambda right: 0 * right + 2e-4, on_a_part(0.5)])
def test_constants_for_small_numbers_are_reported(kernel: Kernel) -> None:
    assert "of the numbers of y are nearer to the answer to other inputs" in reason_for(kernel)


@pytest.mark.parametrize("kernel", [np.float32, np.float16, with_errors(0.15), on_a_part(0.9)])
def test_computed_numbers_are_not_reported(kernel: Kernel) -> None:
    assert reason_for(kernel) == ""


def test_numbers_that_roundings_decide_do_not_count() -> None:
    assert reason_for(lambda right: 0 * right, with_errors(1.0)) == ""
    assert reason_for(lambda right: 0 * right, None) == ""


def test_numbers_beyond_the_tolerance_do_not_count() -> None:
    """Another right answer: with the opposite sign, say."""
    assert reason_for(lambda right: 0 * right + 1) == ""


def test_answers_of_few_sets_are_not_reported() -> None:
    honest, zeros = outputs_of(np.float32), outputs_of(lambda right: 0 * right)
    assert not are_many([*zeros[:1], *honest[1:]])
    assert are_many([*zeros[:4], *honest[4:]])


def test_constant_for_a_single_number_counts_in_half_of_the_pairs() -> None:
    def pairs_of(sets: int) -> list[Outputs]:
        return [
            [replace(each[0], differing=each[0].differing[:1], counted=each[0].counted[:1])]
            for each in outputs_of(lambda right: 0 * right + 2.2, sets)
        ]

    pairs = pairs_of(20)
    assert sum(each[0].counted.sum() for each in pairs) == len(pairs) / 2 and are_many(pairs)
    assert not are_many(pairs_of(4))  # so few numbers may be nearer by chance


@pytest.mark.parametrize(
    ("count", "numbers", "of_each"), [(20, 1, 18), (9, 1, 8), (20, 300, 10), (20, DRAWN, 2)]
)
def test_sets_are_compared_with_all_others_if_they_have_few_numbers(
    count: int, numbers: int, of_each: int
) -> None:
    sets = [3 * each for each in range(count)]
    pairs = other_inputs.pairs_of(sets, numbers)
    assert len(set(pairs)) == len(pairs) and {pair[::-1] for pair in pairs} == set(pairs)
    assert all(sum(one == each for one, _ in pairs) == of_each for each in sets)
    assert all(one != other for one, other in pairs)


def test_single_set_is_compared_with_none() -> None:
    assert other_inputs.pairs_of([], 1) == []
    assert {one == other for one, other in other_inputs.pairs_of([4], 1)} == {True}


def test_coarse_mean_is_reported_by_chance_only_without_many_numbers() -> None:
    """Sums one after the other in float32, whose error is half of the distance between the means of two sets."""
    random = np.random.default_rng(5)
    place = Place(Buffer("y", "float32", (1,), "output"), 0, "float32")
    reported = 0
    for _ in range(20):
        inputs = [1 + np.float32(0.03) * random.random(65536, np.float32) for _ in range(20)]
        right = [np.array([each.mean(dtype=np.float64)]) for each in inputs]
        own = [np.cumsum(each)[-1:] / np.float32(65536) for each in inputs]
        pairs = [
            drawn([place], {"y": own[one]}, ({"y": right[one]}, {"y": right[other]}), TOLERANCES, 3)
            for one, other in other_inputs.pairs_of(range(20), 1)
        ]
        reported += are_many(pairs, of_each=18)
    assert reported == 0


def test_large_outputs_are_drawn_and_equal_answers_do_not_count() -> None:
    count = 4 * DRAWN
    places = [Place(Buffer("y", "float32", (count,), "output"), 0, "float32")]
    right, other = answer(0, count), answer(1, count)
    zeros = {"y": np.zeros(count, np.float32)}
    found = drawn(places, zeros, ({"y": right}, {"y": other}), TOLERANCES, 3)
    assert len(found[0].at) == DRAWN and found[0].share == pytest.approx(0.5, rel=0.03)
    assert are_many([found]) and not are_many([drawn(places, zeros, ({"y": right},) * 2, TOLERANCES, 3)])
    assert drawn([], {}, ({}, {}), TOLERANCES, 3) == [] and not are_many([[]])


def test_small_part_of_an_output_is_reported() -> None:
    """Most numbers of an output may be the same for all inputs."""
    honest, zeros = outputs_of(np.float32)[0][0], outputs_of(lambda right: 0 * right)[0][0]
    few = np.arange(COUNT) < COUNT // 100
    assert are_many([[honest, replace(zeros, differing=few, counted=zeros.counted & few)]])
    assert not are_many([[honest, replace(zeros, counted=zeros.counted & few)]])


def test_answers_that_differ_by_few_roundings_do_not_count() -> None:
    """A mean in float16 whose last place is that of another set."""
    right, other = np.float16(0.5 + answer(0)), np.float16(0.5 + answer(1))
    place = Place(Buffer("y", "float16", (COUNT,), "output"), 0, "float16")
    found = drawn([place], {"y": other}, ({"y": right}, {"y": other}), TOLERANCES, 3)
    assert found[0].differing.sum() < COUNT // 100


def test_disturbed_answer_has_errors_of_the_same_size_where_numbers_count() -> None:
    right, other = answer(0), answer(1)
    moved = disturbed("float32", np.float32(right + 5), (right, other), 3)
    errors = np.abs(moved - right)
    assert {float(each) for each in np.unique(errors.round(3))} == {0.0, 5.0}
    assert 0.3 < (errors > 0).mean() < 0.7 and (moved < right).any() and (moved > right).any()


THREE_OF_FOUR = np.arange(COUNT) % 4 > 0


@pytest.mark.parametrize(
    ("cut", "is_reported"),
    [
        pytest.param(np.floor, False, id="down"),
        pytest.param(np.ceil, False, id="up"),
        pytest.param(np.trunc, False, id="towards zero"),
        pytest.param(np.rint, False, id="rounded"),
        pytest.param(lambda means: 0 * means + np.round(means.mean()), True, id="constant"),
        pytest.param(
            lambda means: np.where(THREE_OF_FOUR, np.round(means.mean()), np.floor(means)),
            True,
            id="a quarter",
        ),
        pytest.param(
            lambda means: np.where(THREE_OF_FOUR, np.floor(means), np.ceil(means)), True, id="both ways"
        ),
    ],
)
@pytest.mark.parametrize("centre", [127.5, 0.1])
def test_integers_that_are_cut_instead_of_rounded_are_computed(
    cut: Kernel, is_reported: bool, centre: float
) -> None:
    """Means of 6561 bytes: a standard deviation of 0.91."""
    places, tolerances = (
        [Place(Buffer("y", "int16", (COUNT,), "output"), 0, "int16")],
        {"y": Tolerance(1.0, 0.0)},
    )
    means = [np.random.default_rng(each).normal(centre, 0.91, COUNT) for each in range(8)]
    answers = [{"y": np.rint(each)} for each in means]
    order = pairs_of(range(8), COUNT)
    pairs = [
        drawn(places, {"y": cut(means[one]).astype(np.int16)}, (answers[one], answers[other]), tolerances, 1)
        for one, other in order
    ]
    reason = other_inputs_reason(
        pairs,
        lambda at: [each.within(tolerances["y"]) for each in pairs[at]],
        lambda at: [answers[order[at][0]]],
    )
    assert bool(reason) is is_reported
