"""The summary of an audit log: kernels, calls, memory, copies, failures, and what was lost."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .chain import FIRST
from .log import checked_lines
from .rows import SCHEMA, CallRow, CopyRow, DecisionRow, FailureRow, ImageRow, KernelRow, Summary
from .tally import Tally


def summarise(path: Path) -> Summary:
    """Summarise a log file and check its hash chain. Raises LogError."""
    return summarise_lines(checked_lines(path), path)


def summarise_lines(lines: Iterable[tuple[dict[str, Any], str]], log: Path | None = None) -> Summary:
    """Summarise lines that were already read, each with its hash. Raises LogError, which names the file `log`."""
    tally, head = Tally(log=log), FIRST
    for line, line_hash in lines:
        tally.add(line)
        head = line_hash
    return tally.summary(head)


__all__ = [
    "SCHEMA",
    "CallRow",
    "CopyRow",
    "DecisionRow",
    "FailureRow",
    "ImageRow",
    "KernelRow",
    "Summary",
    "summarise",
    "summarise_lines",
]
