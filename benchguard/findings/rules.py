"""Findings: their ids, severities and explanations. docs/findings.md is generated from these."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Severity(IntEnum):
    """How much a finding says about the times of a program."""

    info = 1
    warning = 2
    error = 3


@dataclass(frozen=True)
class Rule:
    """One kind of finding.

    Attributes:
        id: Stable name; it never gets another meaning.
        severity: error: the time is not that of the work. warning: look at it. info: worth knowing.
        title: Half a sentence, as in a table.
        meaning: The event and why it matters, for a reader of docs/findings.md.
        honest: When honest work causes it, and what to do.
    """

    id: str
    severity: Severity
    title: str
    meaning: str
    honest: str
