"""The problem's own check, round by round."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchguard.judge import own_check
from benchguard.judge.own_check import OwnCheck
from benchguard.judge.rounding import Factors
from benchguard.judge.samples import Place
from benchguard.problem.spec import Buffer, Tolerance


def test_each_round_begins_with_all_room_for_roundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison judges its sides in turn: what one has wrong must not take the room of the other."""
    case: Any = SimpleNamespace(has_own_check=True, own_verdict=True)
    sets: Any = SimpleNamespace(check_unchanged=lambda _: None, is_own=lambda _: True)
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


@pytest.mark.parametrize(
    ("change", "is_blind_check_made"),
    [
        pytest.param("few roundings", False, id="few-roundings"),
        pytest.param("many", True, id="many-numbers-near-zero"),
        pytest.param("nan", True, id="nan"),
        pytest.param("wrong", True, id="one-wrong"),
    ],
)
def test_accepted_outputs_are_looked_at_again_unless_they_are_few_roundings_off(
    monkeypatch: pytest.MonkeyPatch, change: str, is_blind_check_made: bool
) -> None:
    """A cumulative sum has numbers near zero, for which no relative tolerance has room."""
    expected = np.linspace(-1000, 1000, 4096)
    expected[:: 2048 if change != "many" else 8] = 1e-6
    actual = expected.astype(np.float32)
    actual[expected == 1e-6] = 1e-3
    actual[7] = {"nan": np.nan, "wrong": -900.0}.get(change, actual[7])
    buffer = Buffer("y", "float32", (4096,), "output")
    case: Any = SimpleNamespace(
        has_own_check=True,
        own_verdict=True,
        tolerances={"y": Tolerance(1e-5, 1e-5)},
        spec=SimpleNamespace(checked=[buffer]),
    )
    sets: Any = SimpleNamespace(check_unchanged=lambda _: None, factors=[{}], arrays_of=lambda _: {})
    looked: list[int] = []
    with ThreadPoolExecutor(1) as parts:
        check = OwnCheck(case, sets, lambda _: {"y": expected}, contextlib.nullcontext(), parts, 1)
        monkeypatch.setattr(check, "ask", lambda *_: None)
        monkeypatch.setattr(check, "ask_of_right", lambda *_: None)
        monkeypatch.setattr(own_check, "blind_reason", lambda number, *_: looked.append(number))
        check.begin([Place(buffer, 0, "float32")], None)
        assert check.verdict(0, {"y": actual}, False) is None
    assert bool(looked) == is_blind_check_made


@pytest.mark.parametrize(
    ("is_own", "moves", "is_answer_right", "is_wrong"),
    [
        pytest.param(False, True, False, False, id="undecided"),
        pytest.param(True, True, False, True, id="own-distribution"),
        pytest.param(False, False, False, True, id="answer-that-stays"),
        pytest.param(False, True, True, True, id="answer-that-the-check-accepts"),
    ],
)
def test_rejected_outputs_do_not_count_where_the_check_rejects_the_answer_nearby(
    monkeypatch: pytest.MonkeyPatch, is_own: bool, moves: bool, is_answer_right: bool, is_wrong: bool
) -> None:
    expected = np.linspace(1, 2, 64)
    buffer = Buffer("y", "float32", (64,), "output")
    case: Any = SimpleNamespace(
        has_own_check=True,
        own_verdict=True,
        tolerances={"y": Tolerance(1e-5, 1e-5)},
        spec=SimpleNamespace(checked=[buffer], read=[]),
    )
    sets: Any = SimpleNamespace(
        check_unchanged=lambda _: None,
        is_own=lambda _: is_own,
        factors=[{}],
        arrays_of=lambda _: {},
    )
    monkeypatch.setattr(own_check, "answers_nearby", lambda *_: [{"y": expected + moves}])
    with ThreadPoolExecutor(1) as parts:
        check = OwnCheck(case, sets, lambda _: {"y": expected}, contextlib.nullcontext(), parts, 1)
        monkeypatch.setattr(check, "ask", lambda *_: "wrong")
        monkeypatch.setattr(check, "ask_of_right", lambda *_: None if is_answer_right else "wrong")
        monkeypatch.setattr(check, "room", lambda _: iter(()))
        monkeypatch.setattr(check, "_unseen_reason", lambda *_: None)
        check.begin([Place(buffer, 0, "float32")], None)
        assert check.verdict(0, {"y": np.zeros(64, np.float32)}, False) == ("wrong" if is_wrong else None)
        assert check.undecided == (set() if is_wrong else {0})
        check.begin([], None)
        assert check.undecided == set()
