"""Findings: whether the timing windows of an observed program hold the work that they seem to."""

from __future__ import annotations

from .analyse import Analysis, analyse_log
from .errors import FindingsError
from .report import Finding, FindingsReport
from .rules import Severity

__all__ = ["Analysis", "Finding", "FindingsError", "FindingsReport", "Severity", "analyse_log"]
