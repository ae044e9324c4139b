"""The findings of a log as a section of its page."""

from __future__ import annotations

from pathlib import Path

from ..audit.log import LogError
from ..findings.analyse import analyse_log
from ..findings.errors import FindingsError
from .log_tables import columns
from .page import Row, Section, first_rows, number, text


def findings(path: Path) -> Section:
    """The findings of a log. A log that cannot be analysed gives a section with the reason."""
    try:
        report = analyse_log(path)
    except (FindingsError, LogError) as error:
        return Section("findings", "Findings", warnings=[f"The log was not searched for findings: {error}."])
    rows: list[Row] = [
        [
            text(each.severity), text(each.id), text(each.title), number(each.process, str(each.process)),
            number(each.count), text(evidence.message), text(", ".join(map(str, evidence.lines))),
        ]
        for each in report.findings
        for evidence in each.evidence
    ]  # fmt: skip
    note = f"Timing windows between two events that were examined: {report.windows:,}."
    headings = columns("Severity", "Rule", "Title", "#Process", "#Count", "Evidence", "Log lines")
    table = first_rows("Findings", headings, rows, "the worst first")
    nothing = [] if rows else ["No rule has found anything."]
    return Section("findings", "Findings", [note, *nothing], tables=[table] if rows else [])
