"""The problem's own check, round by round."""

from __future__ import annotations

import contextlib
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
    sets: Any = None
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
