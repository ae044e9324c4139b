"""Numbers of an output that are the same in all input sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from benchguard.judge.constants import SHARE, constants_reason
from benchguard.judge.formats import Array
from benchguard.judge.other_inputs import Drawn
from benchguard.judge.samples import Place
from benchguard.judge.stored_answers import SETS_MIN
from benchguard.problem.spec import Buffer, DType, Tolerance

COUNT = 1 << 10
ROOM = Tolerance(1e-3, 1e-3)
Kernel = Callable[[Array], Array]


def answer(number: int) -> Array:
    """Every fourth number is small."""
    numbers = np.random.default_rng(number).standard_normal(COUNT)
    numbers[::4] *= 1e-5
    return numbers


def without(share: float, value: float = 0.0, of_inputs: float = 0.0) -> Kernel:
    """Replaces small numbers, this share of all, by `value` and `of_inputs` times the right number."""

    def kernel(right: Array) -> Array:
        made = right.copy()
        made[::4][: int(share * COUNT)] *= of_inputs
        made[::4][: int(share * COUNT)] += value
        return made

    return kernel


def reason_for(
    kernel: Kernel,
    sets: int = SETS_MIN,
    dtype: DType = "float32",
    reference: Kernel = np.float32,
    accepted: Callable[[Drawn], Drawn] = lambda output: output,
    tolerance: Tolerance = ROOM,
    right: Kernel = np.copy,
) -> str:
    stored = np.dtype(dtype)
    return constants_reason(
        [Place(Buffer("y", dtype, (COUNT,), "output"), 0, dtype)],
        [{"y": kernel(answer(each)).astype(stored)} for each in range(sets)],
        [{"y": right(answer(each))} for each in range(sets)],
        {"y": tolerance},
        7,
        accepted,
        lambda: [{"y": reference(answer(0))}],
    )


@pytest.mark.parametrize("value", [0.0, 1e-6])
@pytest.mark.parametrize("of_inputs", [0.0, 1e-4])
def test_constants_for_small_numbers_show_nothing(value: float, of_inputs: float) -> None:
    reason = reason_for(without(0.2, value, of_inputs))
    assert reason.startswith(f"20% of the numbers of y are nearly the same in all of {SETS_MIN} input sets")


@pytest.mark.parametrize(
    "kernel",
    [
        pytest.param(np.copy, id="right"),
        pytest.param(without(SHARE), id="few"),
        pytest.param(lambda right: right * 1.0005, id="error"),
    ],
)
def test_outputs_that_differ_from_set_to_set_are_computed(kernel: Kernel) -> None:
    assert reason_for(kernel) == ""


def test_constants_in_few_sets_may_be_chance() -> None:
    assert reason_for(without(0.2), SETS_MIN - 1) == ""


def test_numbers_that_the_reference_rounds_to_constants_do_not_count() -> None:
    """A reference that is as coarse in the submission's precision."""
    assert reason_for(without(0.2), reference=without(0.2)) == ""


def test_constants_that_the_check_does_not_see_do_not_count() -> None:
    def unseen(output: Drawn) -> Drawn:
        return replace(output, counted=np.zeros_like(output.counted))

    assert reason_for(without(0.2), accepted=unseen) == ""


def codes(right: Array) -> Array:
    return np.clip(np.round(right * 1e5), -100, 100)


@pytest.mark.parametrize(("room", "is_asked"), [(Tolerance(1, 0), True), (Tolerance(0, 0), False)])
def test_integers_count_where_they_have_a_tolerance(room: Tolerance, is_asked: bool) -> None:
    def reason(kernel: Kernel) -> str:
        return reason_for(kernel, dtype="int8", reference=codes, tolerance=room, right=codes)

    zeros = without(0.2)
    assert bool(reason(lambda right: codes(zeros(right)))) == is_asked
    assert reason(codes) == ""
