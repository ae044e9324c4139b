"""Findings as SARIF 2.1.0 (OASIS), the format that code-review tools read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..ipc.json_text import json_document
from ..version import __version__
from .checks import RULES
from .report import Evidence, Finding, FindingsReport
from .rules import Rule, Severity

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.info: "note", Severity.warning: "warning", Severity.error: "error"}


def sarif_document(report: FindingsReport, log: Path) -> str:
    """A SARIF log with one run. Locations are lines of the audit log."""
    rules = list(RULES.values())
    positions = {rule.id: index for index, rule in enumerate(rules)}
    run = {
        "tool": {
            "driver": {"name": "neutrino-bench", "version": __version__, "rules": list(map(_rule, rules))}
        },
        "invocations": [{"executionSuccessful": report.complete, "arguments": report.command}],
        "artifacts": [{"location": {"uri": _uri(log)}, "roles": ["analysisTarget"]}],
        "results": [_result(finding, positions[finding.id], log) for finding in report.findings],
        "columnKind": "unicodeCodePoints",
    }
    return json_document({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.meaning},
        "help": {"text": rule.honest},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(finding: Finding, position: int, log: Path) -> dict[str, Any]:
    first = finding.evidence[0]
    return {
        "ruleId": finding.id,
        "ruleIndex": position,
        "level": _LEVELS[Severity[finding.severity]],
        "message": {"text": f"{finding.title}: {first.message}"},
        "occurrenceCount": max(finding.count, 1),
        "locations": _locations(first, log),
        "relatedLocations": [
            location for evidence in finding.evidence[1:] for location in _locations(evidence, log)
        ],
        "properties": {"process": finding.process},
    }


def _locations(evidence: Evidence, log: Path) -> list[dict[str, Any]]:
    return [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": _uri(log), "index": 0},
                "region": {"startLine": line},
            },
            "message": {"text": evidence.message},
        }
        for line in evidence.lines
    ]


def _uri(log: Path) -> str:
    return log.absolute().as_uri()
