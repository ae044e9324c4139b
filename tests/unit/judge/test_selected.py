"""Outputs whose numbers are numbers of the inputs: no honest kernel rounds them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from benchguard.judge.formats import Array
from benchguard.judge.selected import Set, selected
from benchguard.problem.spec import Buffer, Tolerance

SETS = 3
SHAPE = (4, 4096)
WIDE = {"y": Tolerance(1e-2, 0.0)}
INPUT = Buffer("x", "float32", SHAPE, "input")


def uniform(random: np.random.Generator) -> Array:
    return random.random(SHAPE, np.float32) - np.float32(0.25)


def whole(random: np.random.Generator) -> Array:
    return random.integers(-1, 512, SHAPE).astype(np.float32)


def found_for(
    function: Callable[[Array], Array], draw: Callable[[np.random.Generator], Array] = uniform
) -> bool:
    random, sets, shape = np.random.default_rng(3), list[Set](), (0,)
    for _ in range(SETS):
        x = draw(random)
        own, expected = function(x), function(x.astype(np.float64)).astype(np.float64)
        shape = own.shape
        sets.append(({"x": x}, {"y": expected.reshape(-1)}, partial(dict, y=own.reshape(-1))))
    found = selected([INPUT], [Buffer("y", "float32", shape, "output")], WIDE, sets, 1)
    largest = max(float(np.abs(expected["y"]).max()) for _, expected, _ in sets)
    assert found in ({}, {"y": pytest.approx(largest * 2.0**-22 / 1e-2)})
    return bool(found)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.max(axis=1),
        lambda x: np.sort(x, axis=1),
        lambda x: np.maximum(x, 0),
        np.triu,
        np.transpose,
        lambda x: x.reshape(4, -1, 2).max(axis=2),
    ],
)
def test_numbers_of_the_inputs_are_selected(function: Callable[[Array], Array]) -> None:
    assert found_for(function)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.mean(axis=1),
        lambda x: np.where(x > 0, x, x * x.dtype.type(0.01)),
        lambda x: np.clip(x, -0.1, 0.1),
        np.zeros_like,
        lambda x: 2 * x,
    ],
)
def test_computed_numbers_are_not_selected(function: Callable[[Array], Array]) -> None:
    assert not found_for(function)


def test_sums_of_small_whole_numbers_are_not_selected() -> None:
    assert not found_for(lambda x: x[:, :8].reshape(-1, 2).sum(axis=1), whole)


def test_output_that_the_reference_rounds_is_not_selected() -> None:
    """Few numbers differ, and none is looked for among the inputs."""

    def but_one(x: Array) -> Array:
        y = np.sort(x, axis=1)
        y[0, 0] = y[0, 0] / 3
        return y

    assert not found_for(but_one)


def test_output_without_a_reference_in_its_precision_is_not_selected() -> None:
    x = uniform(np.random.default_rng(1))
    output = Buffer("y", "float32", (4,), "output")
    expected = {"y": x.max(axis=1).astype(np.float64)}
    assert selected([INPUT], [output], WIDE, [({"x": x}, expected, dict)], 1) == {}
    assert selected([INPUT], [output], WIDE, [], 1) == {}
    half = Buffer("y", "float16", (4,), "output")
    assert selected([INPUT], [half], WIDE, [({"x": x}, expected, dict)], 1) == {}


def test_tolerance_that_is_narrower_already_stays() -> None:
    x = uniform(np.random.default_rng(1))
    own = {"y": x.max(axis=1)}
    sets: list[Set] = [({"x": x}, {"y": own["y"].astype(np.float64)}, lambda: own)]
    output = Buffer("y", "float32", (4,), "output")
    assert "y" in selected([INPUT], [output], WIDE, sets, 1)
    assert selected([INPUT], [output], {"y": Tolerance(0.0, 0.0)}, sets, 1) == {}
