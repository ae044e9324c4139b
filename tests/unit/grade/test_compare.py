"""Which grades a comparison makes, if a side does not pass."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchguard.grade import compare
from benchguard.grade.options import GradeOptions


class Beside:
    """In place of a grade in another process."""

    def __init__(self, verdict: str) -> None:
        self._verdict = verdict

    def __enter__(self) -> Beside:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def result(self) -> Any:
        return SimpleNamespace(verdict=self._verdict)


@pytest.mark.parametrize(
    ("beside", "alone", "expected"),
    [
        pytest.param(("wrong", "pass"), ["pass", "pass"], ["pass", "pass"], id="wrong-without-memory"),
        pytest.param(("pass", "wrong"), ["pass"], ["pass", "pass"], id="other-side-wrong-without-memory"),
        pytest.param(
            ("unreplayable", "pass"), ["pass", "pass"], ["pass", "pass"], id="other-work-without-memory"
        ),
        pytest.param(("wrong", "pass"), ["wrong"], ["wrong"], id="wrong"),
        pytest.param(("violation", "pass"), [], ["violation"], id="violation"),
        pytest.param(("pass", "violation"), [], ["pass", "violation"], id="other-side-violation"),
    ],
)
def test_side_that_load_may_have_failed_is_graded_alone(
    monkeypatch: pytest.MonkeyPatch, beside: tuple[str, str], alone: list[str], expected: list[str]
) -> None:
    """`beside` are the verdicts of grades at once, and `alone` those of later ones, in order."""
    given = [beside[0], *alone]
    monkeypatch.setattr(compare, "grade_beside", lambda *_: SimpleNamespace(verdict=given.pop(0)))
    monkeypatch.setattr(compare, "GradeBeside", lambda *_: Beside(beside[1]))
    judge: Any = SimpleNamespace(ask=lambda _: None)
    options = [GradeOptions(keep=Path(label)) for label in "ab"]
    graded = compare._grades("p.py", ("a.cu", "b.cu"), options, None, judge)
    assert [each.verdict for each in graded] == expected
