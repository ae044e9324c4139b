"""Inputs that hardly change the right answer are named, and no others."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchguard.ipc.shared_memory import FIXED, SharedMemory
from benchguard.ipc.slots import SlotPlan
from benchguard.judge import ignorable
from benchguard.judge.formats import Array
from benchguard.judge.ignorable import ELEMENTS_MIN, TRIED, ignorable_inputs
from benchguard.judge.narrowing import Narrowing
from benchguard.judge.secret_sets import SecretSets
from benchguard.problem.spec import Buffer, CaseSpec, Role, Tolerance, layout_of

N = 1 << 10
OUTPUT = Buffer("y", "float32", (N,), "output")
SMALL = 1e-6
TOLERANCES = {"y": Tolerance(1e-4, 0.0)}


def buffer(name: str, dtype: str = "float32", role: Role = "input", count: int = N) -> Buffer:
    return Buffer(name, dtype, (count,), role)  # type: ignore[arg-type]


def case_of(*read: Buffer, weights: Mapping[str, float], unseeded: tuple[str, ...] = ()) -> Any:
    """The answer is twice the first input, and the weighted sums of others."""

    def expected(inputs: Mapping[str, Any]) -> dict[str, Array]:
        sums = (inputs[name].astype(np.float64).sum() * weight for name, weight in weights.items())
        return {"y": 2 * inputs[read[0].name].astype(np.float64) + sum(sums) / N}

    return SimpleNamespace(
        spec=CaseSpec("sum", (*read, OUTPUT), unseeded=unseeded),
        own_verdict=False,
        distributions=("own",),
        tolerances=TOLERANCES,
        expected=expected,
    )


def drawn(case: Any, seed: int) -> dict[str, Array]:
    random = np.random.default_rng(seed)
    return {each.name: random.integers(0, 9, each.shape).astype(each.dtype) for each in case.spec.read}


def found(case: Any, *, equal: tuple[str, ...] = ()) -> tuple[str, ...]:
    one, other = drawn(case, 1), drawn(case, 2)
    other.update({name: one[name] for name in equal})
    answers = case.expected(one)

    def is_right(given: Mapping[str, Array]) -> bool:
        return bool(np.abs(given["y"] - answers["y"]).max() <= TOLERANCES["y"].atol)

    return ignorable_inputs(case, one, other, answers, is_right, contextlib.nullcontext())


def test_only_input_with_a_small_weight_is_named() -> None:
    read = buffer("x"), buffer("small"), buffer("large")
    assert found(case_of(*read, weights={"small": SMALL, "large": 1.0})) == ("small",)


def test_change_of_less_than_two_tolerances_is_small() -> None:
    """A kernel may write the number half way."""
    read = buffer("x"), buffer("w")
    one, other = (drawn(case_of(*read, weights={}), seed)["w"].sum() for seed in (1, 2))
    unit = TOLERANCES["y"].atol * N / abs(one - other)
    assert found(case_of(*read, weights={"w": 1.9 * unit})) == ("w",)
    assert found(case_of(*read, weights={"w": 2.1 * unit})) == ()


@pytest.mark.parametrize(
    ("read", "unseeded", "equal"),
    [
        pytest.param([buffer("x"), buffer("w", "int32")], (), (), id="integers"),
        pytest.param([buffer("x"), buffer("w", role="constant")], (), (), id="constant"),
        pytest.param([buffer("x"), buffer("w", count=ELEMENTS_MIN - 1)], (), (), id="few"),
        pytest.param([buffer("x"), buffer("w")], ("w",), (), id="unseeded"),
        pytest.param([buffer("x"), buffer("w")], (), ("w",), id="equal-in-both-sets"),
    ],
)
def test_inputs_that_tell_nothing_are_not_named(
    read: list[Buffer], unseeded: tuple[str, ...], equal: tuple[str, ...]
) -> None:
    assert found(case_of(*read, weights={"w": SMALL}, unseeded=unseeded), equal=equal) == ()
    assert found(case_of(buffer("x"), buffer("w"), weights={"w": SMALL})) == ("w",)


def test_single_input_is_not_tried() -> None:
    """The answers to two sets differ, so they depend on it."""
    case = case_of(buffer("x"), weights={})
    case.expected = lambda _: {"y": np.zeros(N)}
    assert found(case) == ()


def test_input_with_which_the_reference_fails_is_skipped() -> None:
    case = case_of(buffer("x"), buffer("a"), buffer("b"), weights={"a": SMALL, "b": SMALL})
    run, known = case.expected, drawn(case, 1)["a"]

    def expected(inputs: Mapping[str, Any]) -> Any:
        if not np.array_equal(inputs["a"], known):
            raise ValueError("not sorted")
        return run(inputs)

    case.expected = expected
    assert found(case) == ("b",)


def test_largest_inputs_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    small = [buffer(f"w{at}", count=N + at) for at in range(TRIED + 2)]
    case = case_of(buffer("x"), *small, weights={each.name: SMALL for each in small})
    assert found(case) == tuple(each.name for each in small[:1:-1])
    monkeypatch.setattr(ignorable, "SECONDS", -1.0)
    assert found(case) == ()


@pytest.mark.parametrize("own_verdict", [False, True])
@pytest.mark.parametrize(("sets_of_own", "named"), [(2, ("w",)), (1, ())])
def test_two_sets_of_the_own_distribution_tell(
    own_verdict: bool, sets_of_own: int, named: tuple[str, ...]
) -> None:
    """The tolerances decide, or the problem's own check."""
    case = case_of(buffer("x"), buffer("w"), weights={"w": SMALL})
    case.own_verdict, case.distributions = own_verdict, ("own", "other")
    layout, count = layout_of(case.spec.read), 3
    pool = SharedMemory("test-secrets", count * layout.stride)
    pool.seal(FIXED)
    answers: list[dict[str, Array]] = []
    for number in range(count):
        arrays = drawn(case, number)
        for name, array in arrays.items():
            pool.write(array, layout.place(name, number)[0])
        answers.append(case.expected(arrays))
    distributions = tuple("own" if at < sets_of_own else "other" for at in range(count))
    plan = SlotPlan(count, 0, 2)
    sets = SecretSets(case, layout, plan, distributions, pool, pool.view(), answers, [{} for _ in answers])
    shown: list[int] = []

    def ask(number: int, copy: Mapping[str, Array]) -> str | None:
        shown.append(number)
        return "wrong" if np.abs(copy["y"] - answers[number]["y"]).max() > TOLERANCES["y"].atol else None

    narrowing = Narrowing(case, sets, lambda number: number, contextlib.nullcontext())
    narrowing.narrow()
    assert narrowing.ignorable == (() if own_verdict else named)
    assert narrowing.inputs_open_to_others(range(count), ask) == named
    assert shown == [0] * 2 * len(named)
    sets.free()
