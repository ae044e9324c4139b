"""The result of a regrade as a table and lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from ..grade.regrade_result import RegradedCase, RegradeResult
from .replay_text import us
from .table import Column, console_for, print_lines, table

_COLUMNS = (
    Column("case", rest=True),
    Column("stored"),
    Column("now"),
    Column("stored, us", right=True),
    Column("now, us", right=True),
    Column("ratio", right=True),
    Column("95 % interval", right=True),
)


def render(result: RegradeResult, output: TextIO) -> None:
    """Print the table of cases, what differs, and the conclusion."""
    console = console_for(output)
    rows = [_row(case) for case in result.cases]
    if rows:
        console.print(table("regrade", _COLUMNS, rows, console.width, output.isatty()))
    print_lines(console, closing_lines(result))


def closing_lines(result: RegradeResult) -> Iterator[str]:
    """The lines below the table."""
    for each in result.differences:
        yield f"{each.what}: {each.stored} when it was graded, {each.now} now"
    yield from (f"note: {note}" for note in result.result.notes)
    if not result.times_compared:
        yield "the times decide nothing: this is not a GPU of the same model and driver; decide with --within RATIO"
    yield (
        f"{'confirmed' if result.confirmed else 'not confirmed'}: {result.stored} when it was graded, "
        f"{result.verdict} now; bundle {result.bundle}"
    )


def _row(case: RegradedCase) -> list[str]:
    times = [us(each.median) if each is not None else "" for each in (case.stored_us, case.regraded_us)]
    ratio = f"{case.ratio:.3f}" if case.ratio is not None else ""
    bounds = f"{case.low:.3f} to {case.high:.3f}" if case.low is not None and case.high is not None else ""
    return [case.name, case.stored, case.verdict, *times, ratio, bounds]
