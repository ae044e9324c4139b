"""The findings of a log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..ipc.json_text import json_document
from .rules import Rule, Severity

SCHEMA = "neutrino-bench/findings/1"
EVIDENCE_MAX = 10
"""Places that a finding names; `count` has their true number."""


@dataclass(frozen=True)
class Evidence:
    """A place where a finding was seen: lines of the log, and a message."""

    message: str
    lines: tuple[int, ...]


@dataclass(frozen=True)
class Finding:
    """One rule in one process. `count` is how often it was seen."""

    id: str
    severity: str
    title: str
    process: int
    count: int
    evidence: list[Evidence]


@dataclass(frozen=True)
class FindingsReport:
    """The findings of a log, the worst first. `windows` counts elapsed-time calls whose window was examined."""

    findings: list[Finding]
    windows: int
    lines: int
    complete: bool
    command: list[str]
    schema: str = field(default=SCHEMA)

    def to_json(self) -> str:
        return json_document(self)

    def above_info(self) -> list[Finding]:
        return [each for each in self.findings if each.severity != Severity.info.name]

    def failing(self, wanted: Sequence[str]) -> list[Finding]:
        """The findings with one of these ids, or of one of these severities or worse."""
        levels = [Severity[each] for each in wanted if each in Severity.__members__]
        least = min(levels, default=None)
        return [
            each
            for each in self.findings
            if each.id in wanted or (least is not None and Severity[each.severity] >= least)
        ]


class Found:
    """Collects findings, one for each rule and process."""

    def __init__(self) -> None:
        self._evidence: dict[tuple[str, int], list[Evidence]] = {}
        self._counts: dict[tuple[str, int], int] = {}
        self._rules: dict[str, Rule] = {}

    def add(self, rule: Rule, process: int, message: str, lines: Sequence[int] = (), count: int = 1) -> None:
        key = rule.id, process
        self._rules[rule.id] = rule
        self._counts[key] = self._counts.get(key, 0) + count
        evidence = self._evidence.setdefault(key, [])
        if len(evidence) < EVIDENCE_MAX:
            evidence.append(Evidence(message, tuple(lines)))

    def findings(self) -> list[Finding]:
        """The worst first, then by place in the log."""
        found = [
            Finding(name, rule.severity.name, rule.title, process, self._counts[name, process], evidence)
            for (name, process), evidence in self._evidence.items()
            for rule in (self._rules[name],)
        ]
        return sorted(found, key=lambda each: (-Severity[each.severity], each.evidence[0].lines[:1], each.id))
