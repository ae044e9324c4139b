"""The result of a comparison as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import TextIO

from ..grade.compare import ComparedCase, CompareResult, Replays
from .replay_text import us
from .table import Column, console_for, print_lines, table

_COLUMNS = (
    Column("case", rest=True),
    Column("B is"),
    Column("B / A", right=True),
    Column("95 % interval"),
    Column("A, us", right=True),
    Column("B, us", right=True),
    Column("A/A floor", right=True),
)


def render(result: CompareResult, output: TextIO) -> None:
    """Print the cases that were compared, and the result over all of them."""
    console, terminal = console_for(output), output.isatty()
    rows = [
        [
            case.name,
            case.call,
            f"{case.ratio:.4f}",
            f"{case.ratio95[0]:.4f} to {case.ratio95[1]:.4f}",
            us(case.median_a_us),
            us(case.median_b_us),
            f"{case.floor:.2%}",
        ]
        for case in result.cases
    ]
    sides = (("A", result.a.submission), ("B", result.b.submission))
    if rows:
        title = f"{result.a.submission.path} (A) and {result.b.submission.path} (B)"
        console.print(table(title, _COLUMNS, rows, console.width, terminal))
        roles = [f"{role} is {side.path}, SHA-256 {side.sha256}" for role, side in sides]
        print_lines(console, [*roles, *map(_power_line, result.cases), *_doubts(result)])
        print_lines(console, [f"B is {result.call}; compared in {result.wall_s:.1f} s"])


def _power_line(case: ComparedCase) -> str:
    clocks, busy = _sides(case.clocks_mhz), _sides(case.busy)
    a, b = (
        f"{name} {mhz:.0f} MHz, busy {share:.0%}" for name, mhz, share in zip("AB", clocks, busy, strict=True)
    )
    return f"{case.name}: {a}; {b}"


def _sides(blocks: Sequence[Replays]) -> tuple[float, float]:
    """The median of the replays of each side."""
    a = [value for each in blocks for value in (each[0], each[3])]
    b = [value for each in blocks for value in (each[1], each[2])]
    return median(a), median(b)


def _doubts(result: CompareResult) -> Iterator[str]:
    return (f"{case.name}: {case.reason}" for case in result.cases if case.reason)
