"""Outputs that an input is within the tolerance of, beside those that need work."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from benchguard.judge.copied import copied
from benchguard.judge.formats import Array
from benchguard.problem.spec import Buffer, Tolerance

N = 4096
P, G, SMALL = Buffer("p", "float32", (64, 64)), Buffer("g", "float32", (N,)), Buffer("s", "float32", (8,))
OUT = Buffer("out", "float32", (N,), "output")
TOLERANCES = {"out": Tolerance(1e-4, 1e-4)}


def sets(
    step: float, last: float | None = None, count: int = 3
) -> Iterator[tuple[dict[str, Array], dict[str, Array]]]:
    """The step of an optimiser: p less a part of g. The last set has another step."""
    for seed in range(count):
        random = np.random.default_rng(seed)
        p, g = (random.standard_normal(shape).astype(np.float32) for shape in ((64, 64), (N,)))
        part = last if last is not None and seed == count - 1 else step
        yield {"p": p, "g": g, "s": g[:8]}, {"out": p.reshape(-1).astype(np.float64) - part * g}


def test_output_within_the_tolerance_of_an_input_is_named_with_it() -> None:
    assert copied([P, G, SMALL], [OUT], TOLERANCES, sets(1e-6)) == {"out": "p"}


@pytest.mark.parametrize(("step", "last"), [(1e-2, None), (1e-6, 1e-2)])
def test_output_beyond_the_tolerance_in_any_set_is_not_named(step: float, last: float | None) -> None:
    assert copied([P, G, SMALL], [OUT], TOLERANCES, sets(step, last)) == {}


def test_single_number_beyond_the_tolerance_is_found() -> None:
    def but_one() -> Iterator[tuple[dict[str, Array], dict[str, Array]]]:
        for arrays, expected in sets(0.0):
            expected["out"][1234] += 1
            yield arrays, expected

    assert copied([P], [OUT], TOLERANCES, sets(0.0)) == {"out": "p"}
    assert copied([P], [OUT], TOLERANCES, but_one()) == {}


def test_no_sets_and_few_numbers_tell_nothing() -> None:
    assert copied([P], [OUT], TOLERANCES, iter([])) == {}
    few = Buffer("out", "float32", (8,), "output")
    given = [({"s": np.zeros(8, np.float32)}, {"out": np.zeros(8)})]
    assert copied([SMALL], [few], TOLERANCES, iter(given)) == {}


def test_buffer_is_not_compared_with_itself() -> None:
    inout = Buffer("p", "float32", (64, 64), "inout")
    given = [(arrays, {"p": expected["out"]}) for arrays, expected in sets(0.0)]
    assert copied([inout], [inout], {"p": Tolerance(1e-4, 1e-4)}, iter(given)) == {}
