"""Draws of one of the tests that a challenge makes all at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from benchguard.adapters.host import filling_memory
from benchguard.adapters.one_test import one_test, origins

torch = pytest.importorskip("torch")
LARGE = 1 << 34


def made(size: int) -> list[dict[str, Any]]:
    """Each test draws its input in another way."""
    table = torch.arange(5.0)
    joined = torch.cat([torch.rand(3), torch.empty(2).uniform_(2, 3)])
    placed = torch.zeros(4)
    placed[1] = torch.rand(())
    return [
        {"x": torch.tensor([1.0, 2.0]), "n": 2},
        {"x": torch.rand(size, dtype=torch.float64) * 2, "n": 6},
        {"x": joined, "n": 5},
        {"x": placed, "n": 4},
        {"x": table[torch.randperm(5)], "n": 5},
    ]


@pytest.mark.parametrize("number", [0, 2, 3, 4])
def test_numbers_of_other_tests_are_not_drawn(number: int) -> None:
    """The second test has more memory than there is."""
    needed = origins(lambda: made(6))[number]
    torch.manual_seed(number)
    test = one_test(lambda: made(LARGE), number, needed)
    torch.manual_seed(number)
    again = one_test(lambda: made(LARGE), number, needed)
    assert len(test["x"]) == test["n"] and torch.equal(test["x"], again["x"]) and not test["x"].is_meta
    assert number != 2 or (test["x"][3:] >= 2).all()
    assert number != 3 or test["x"].count_nonzero() == 1
    assert number != 4 or sorted(test["x"].tolist()) == [0, 1, 2, 3, 4]


def decides() -> list[dict[str, Any]]:
    first = torch.rand(3) + 1
    return [{"x": first}, {"x": torch.rand(5) if first.sum() > 0 else torch.zeros(5)}]


def test_all_are_drawn_if_numbers_of_another_test_decide() -> None:
    test = one_test(decides, 1, origins(decides)[1])
    assert len(test["x"].unique()) == 5


def test_all_are_drawn_if_a_needed_call_was_not_found() -> None:
    assert not one_test(decides, 0, frozenset())["x"].is_meta


def test_calls_of_each_test_are_its_own() -> None:
    def simple() -> list[Mapping[str, Any]]:
        return [{"x": torch.rand(2)}, {"x": torch.rand(2), "y": torch.zeros(1)}, {"n": 3}]

    assert origins(simple) == [frozenset({0}), frozenset({1, 2}), frozenset()]


def test_uninitialised_memory_of_other_tests_is_not_filled() -> None:

    def simple() -> list[Mapping[str, Any]]:
        return [{"x": torch.empty(2, dtype=torch.uint8)}, {"x": torch.empty(LARGE)}]

    with filling_memory(0x5A):
        assert one_test(simple, 0, frozenset({0}))["x"].tolist() == [0x5A, 0x5A]
