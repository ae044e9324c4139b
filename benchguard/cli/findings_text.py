"""Findings as a table, and the exit status for --fail-on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from .. import exit_status
from .output import notify_on
from .table import Column, console_for, print_lines, table

if TYPE_CHECKING:
    from ..findings import Finding, FindingsReport

_COLUMNS = (
    Column("finding"),
    Column("severity"),
    Column("times", right=True),
    Column("process", right=True),
    Column("log lines"),
    Column("what was seen", rest=True),
)


def render(report: FindingsReport, shown: Sequence[Finding], log: Path, output: TextIO) -> None:
    """Print these findings of a report, and one line about the others."""
    console = console_for(output)
    if shown:
        rows = [_row(finding) for finding in shown]
        console.print(table("findings", _COLUMNS, rows, console.width, output.isatty()))
    hidden = len(report.findings) - len(shown)
    more = f"; {hidden} of severity info, for `neutrino-bench findings {log}`" if hidden else ""
    windows = f"{report.windows} timing window{'' if report.windows == 1 else 's'}"
    print_lines(console, [f"{windows}, {len(shown)} finding{'' if len(shown) == 1 else 's'}{more}"])


def failed(report: FindingsReport, fail_on: Sequence[str], output: TextIO) -> int:
    """The status that --fail-on asks for; a line names the findings."""
    failing = report.failing(fail_on)
    if not failing:
        return exit_status.PASS
    names = ", ".join(dict.fromkeys(finding.id for finding in failing))
    notify_on(output, f"findings that --fail-on names: {names}; docs/findings.md explains them")
    return exit_status.VIOLATION


def _row(finding: Finding) -> list[str]:
    first = finding.evidence[0]
    return [
        finding.id,
        finding.severity,
        str(finding.count),
        str(finding.process or ""),
        " ".join(map(str, first.lines)),
        f"{finding.title}: {first.message}",
    ]
