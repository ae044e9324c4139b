"""Claims of another suite as a table."""

from __future__ import annotations

from typing import TextIO

from ..report.flashinfer_claims import Claim, Claims
from .replay_text import us
from .table import Column, console_for, print_lines, table

_COLUMNS = (
    Column("definition", rest=True),
    Column("axes", rest=True),
    Column("solution", rest=True),
    Column("status"),
    Column("hardware"),
    Column("us", right=True),
)
_OWN_COLUMNS = (
    Column("own verdict"),
    Column("own device"),
    Column("own, us", right=True),
    Column("ratio", right=True),
)


def render(found: Claims, output: TextIO) -> None:
    """Print a row for each claim, and their numbers."""
    console = console_for(output)
    own = sum(each.verdict is not None for each in found.claims)
    columns = _COLUMNS + _OWN_COLUMNS if own else _COLUMNS
    rows = [_row(each)[: len(columns)] for each in found.claims]
    if rows:
        console.print(table("traces", columns, rows, console.width, output.isatty()))
    counts = f"{len(found.claims)} evaluations, {own} with an own grade"
    print_lines(console, [f"{counts}; {found.workloads} workloads without an evaluation"])


def contradiction(claim: Claim) -> str:
    """How the own grade contradicts a claim."""
    if claim.agrees is False:
        return f"{claim.status} there, {claim.verdict} here"
    if claim.latency_us is None:
        return f"no positive time there, {_us(claim.own_us)} us here"
    return f"{_us(claim.latency_us)} us there, {_us(claim.own_us)} us here"


def _row(claim: Claim) -> list[str]:
    axes = ", ".join(f"{name}={size}" for name, size in claim.axes.items())
    return [
        claim.definition,
        axes,
        claim.solution,
        claim.status,
        claim.hardware,
        _us(claim.latency_us),
        claim.verdict or "",
        claim.device,
        _us(claim.own_us),
        f"{claim.ratio:.3f}" if claim.ratio is not None else "",
    ]


def _us(value: float | None) -> str:
    return us(value) if value is not None else ""
