"""The findings of a log as a section of its page."""

from __future__ import annotations

from ..findings.analyse import Analysis
from ..findings.errors import FindingsError
from .log_tables import columns
from .page import Row, Section, first_rows, number, text


def findings(analysis: Analysis, problem: str) -> Section:
    """The findings of a log that was read to its end. A `problem` of the log is the reason for having none."""
    if not problem:
        try:
            report = analysis.report()
        except FindingsError as error:
            problem = str(error)
    if problem:
        return Section(
            "findings", "Findings", warnings=[f"The log was not searched for findings: {problem}."]
        )
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
