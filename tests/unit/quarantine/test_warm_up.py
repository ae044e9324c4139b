"""How often a submission is called before its calls are recorded."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchguard.problem.spec import CaseSpec
from benchguard.quarantine.runner import rounds
from benchguard.quarantine.runner.rounds import Rounds


@pytest.mark.parametrize(
    ("calls", "seconds", "made"),
    [
        pytest.param(None, 0.0, 4, id="short"),
        pytest.param(None, 0.2, 2, id="long"),
        pytest.param(1, 0.0, 1, id="asked-once"),
        pytest.param(7, 0.2, 7, id="asked-long"),
    ],
)
def test_short_calls_are_made_more_often_unless_a_number_is_given(
    monkeypatch: pytest.MonkeyPatch, calls: int | None, seconds: float, made: int
) -> None:
    now, count = 0.0, 0

    def call() -> None:
        nonlocal now, count
        now, count = now + seconds, count + 1

    nothing = cast(
        Any,
        SimpleNamespace(prepare=lambda *_, **__: None, make_current=lambda: None, synchronise=lambda: None),
    )
    monkeypatch.setattr(rounds.time, "monotonic", lambda: now)
    found = Rounds(nothing, 0, CaseSpec("case", ()), nothing, call).warm_up(calls)
    assert (count, found) == (made, pytest.approx(seconds))
