"""The problem's own check, round by round."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from benchguard.judge.own_check import OwnCheck
from benchguard.judge.rounding import Factors


def test_each_round_begins_with_all_room_for_roundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison judges its sides in turn: what one has wrong must not take the room of the other."""
    case: Any = SimpleNamespace(has_own_check=True, own_verdict=True)
    sets: Any = SimpleNamespace(check_unchanged=lambda _: None)
    asked: list[int] = []

    def room(number: int) -> Iterator[Factors]:
        asked.append(number)
        return iter(())

    with ThreadPoolExecutor(1) as parts:
        check = OwnCheck(case, sets, lambda _: {}, contextlib.nullcontext(), parts, 1)
        monkeypatch.setattr(check, "ask", lambda *_: "wrong")
        monkeypatch.setattr(check, "room", room)
        for numbers in ((0, 1), (2,)):
            check.begin((), None)
            for number in numbers:
                assert check.verdict(number, {}, False) == "wrong"
    assert asked == [0, 2]


@pytest.mark.parametrize(
    ("beside", "alone", "expected"),
    [
        pytest.param("no memory", None, [None, None, None], id="rejected-beside-others-only"),
        pytest.param("wrong", "wrong", ["wrong", "wrong", "wrong"], id="wrong"),
    ],
)
def test_outputs_that_the_check_rejects_beside_others_are_shown_to_it_alone(
    monkeypatch: pytest.MonkeyPatch, beside: str, alone: str | None, expected: list[str | None]
) -> None:
    """A check that lacks memory beside others may raise, and an exception is a reason."""
    case: Any = SimpleNamespace(has_own_check=True, own_verdict=True)
    sets: Any = SimpleNamespace(plan=SimpleNamespace(is_streamed=lambda _: False))
    states = [SimpleNamespace(same=1, mismatch=None, copy={}, is_near=True, sample=0) for _ in range(3)]
    samples: Any = SimpleNamespace(sets=states, mismatch=lambda _, __, reason: reason)
    main, asked_alone = threading.get_ident(), []
    with ThreadPoolExecutor(1) as parts:
        check = OwnCheck(case, sets, lambda _: {}, contextlib.nullcontext(), parts, 1)

        def verdict(number: int, *_: Any) -> str | None:
            if threading.get_ident() != main:
                return beside
            asked_alone.append(number)
            return alone

        monkeypatch.setattr(check, "verdict", verdict)
        check.ask_of_all(samples, parts)
    assert [each.mismatch for each in states] == expected
    assert asked_alone == ([0, 1, 2] if alone is None else [0])
