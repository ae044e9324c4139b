"""The secret sets of a case: all of them, or the fewest if the reference is slow."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from benchguard.judge import filling
from benchguard.judge.contract import Ask
from benchguard.judge.filling import Filling
from benchguard.judge.inputs import Seen
from benchguard.judge.making import Here
from benchguard.judge.secret_sets import SecretSets
from benchguard.problem.spec import layout_of
from benchguard.problem.turns import Turns
from tests.unit.judge.problems import Scale

SECONDS = 0.02


@dataclass
class Slow(Scale):
    def expected(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        time.sleep(SECONDS)
        return super().expected(inputs)


def made(patience: float | None, pool_bytes: int = 1 << 20) -> SecretSets:
    case = Slow(n=100)
    read, checked = layout_of(case.spec.read), layout_of(case.spec.checked)
    ask = Ask("plain", "test", sets_max=8, one_use=12, patience=patience)
    maker = Here([case], Turns())
    return Filling(0, case, ask, Seen(case.spec), maker, read, checked, pool_bytes).sets()


def is_right(sets: SecretSets) -> bool:
    """Whether each set has the answers to its own inputs, in the order of its kinds."""
    for number, expected in enumerate(sets.expected):
        given = sets.arrays_of(number)
        right = given["x"].astype(np.float64) * given["w"].astype(np.float64)
        if not np.allclose(expected["y"], right, rtol=1e-6):
            return False
    return len({sets.memory_of(number, "x").tobytes() for number in range(sets.plan.sets)}) == sets.plan.sets


@pytest.mark.parametrize("patience", [None, 600.0])
def test_reference_within_the_patience_gives_all_sets(patience: float | None) -> None:
    sets = made(patience)
    assert (sets.plan.sets, sets.plan.one_use, len(sets.expected)) == (20, 12, 20)
    assert is_right(sets)


def test_slow_reference_gives_the_fewest_sets() -> None:
    sets = made(patience=SECONDS)
    assert (sets.plan.sets, sets.plan.one_use) == (12, 8)
    assert len(sets.expected) == len(sets.factors) == len(sets.distributions) == 12
    assert is_right(sets)
    own = [name == "normal" for name in sets.distributions]
    assert sum(own[:4]) >= 2 and sum(own[4:]) >= 4


def test_slow_reference_makes_no_set_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(
        Slow, "inputs", lambda self, seed, name: calls.append(seed) or Scale.inputs(self, seed, name)
    )
    made(patience=SECONDS)
    assert len(calls) == 12


def test_streamed_sets_are_made_whatever_the_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    read = layout_of(Slow(n=100).spec.read)
    monkeypatch.setattr(filling, "available_bytes", lambda: 40 * read.stride)
    sets = made(patience=0.0, pool_bytes=1)
    assert sets.plan.streamed and sets.supply is not None
    assert len(sets.distributions) == sets.plan.sets
