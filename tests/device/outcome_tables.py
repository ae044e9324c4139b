"""Tables of outcomes: by form, and what did not come out as expected."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from .grading import Outcome

REASON_CHARACTERS = 240


def by_form(outcomes: Sequence[Outcome]) -> list[str]:
    """A table with one row for each form, and one for all."""
    head = [
        "form",
        "as expected",
        "honest passed",
        "not run",
        "median s beyond own",
        "largest",
        "median s own",
    ]
    rows = [head, ["---"] * len(head)]
    for form in [*dict.fromkeys(each.form for each in outcomes), "all"]:
        some = [each for each in outcomes if form in (each.form, "all")]
        ran = [each for each in some if each.verdict != "not run"]
        honest = [each for each in ran if each.expected == "pass"]
        passed = [each for each in honest if each.verdict == "pass"]
        rows.append(
            [
                form,
                f"{sum(each.good for each in ran)}/{len(ran)}",
                f"{len(passed)}/{len(honest)}",
                str(len(some) - len(ran)),
                _figure(statistics.median, [each.beyond_s for each in passed]),
                _figure(max, [each.beyond_s for each in passed]),
                _figure(statistics.median, [each.own_s for each in passed]),
            ]
        )
    return _lines(rows)


def unexpected(outcomes: Iterable[Outcome]) -> list[str]:
    """A table of the outcomes that were not as expected, with reasons."""
    rows = [
        [each.form, each.id, each.expected, each.verdict, _short(each.reason)]
        for each in outcomes
        if not each.good
    ]
    if not rows:
        return ["Every outcome was as expected."]
    head = ["form", "pair", "expected", "verdict", "reason"]
    return _lines([head, ["---"] * len(head), *rows])


def times(outcomes: Iterable[Outcome]) -> list[str]:
    """A table with a row for each pair: verdict, times of the cases, seconds."""
    head = ["pair", "verdict", "medians, us", "wall s", "own s", "beyond own, s"]
    rows = [head, ["---"] * len(head)]
    for each in outcomes:
        medians = ", ".join(f"{name} {median:.2f}" for name, median in each.medians_us.items())
        figures = [f"{seconds:.2f}" for seconds in (each.wall_s, each.own_s, each.beyond_s)]
        rows.append([each.id, each.verdict, medians, *figures])
    return _lines(rows)


def _figure(function: object, values: list[float]) -> str:
    assert callable(function)
    return f"{function(values):.2f}" if values else ""


def _short(text: str) -> str:
    line = " ".join(text.split()).replace("|", "/")
    return line if len(line) <= REASON_CHARACTERS else line[:REASON_CHARACTERS] + "..."


def _lines(rows: Iterable[list[str]]) -> list[str]:
    return ["| " + " | ".join(row) + " |" for row in rows]
