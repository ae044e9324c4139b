"""What every language gives: an entry that can be bound to one case's memory, and then called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ...problem.spec import CaseSpec
from .case_memory import CaseMemory

Call = Callable[[], object]
"""Queues the work of one call, or does it; what it returns, if not None, are the outputs."""


class Entry(Protocol):
    def bind(self, case: CaseSpec, memory: CaseMemory) -> Call:
        """Everything that a call needs is made here, none of it in the call. Raises SubmissionError."""
        ...
