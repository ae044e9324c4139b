"""Progress of a grade."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class GradeProgress:
    """One step. `phase` is text for users; `samples` and their median (microseconds) are set during a replay."""

    phase: str
    case: str = ""
    samples: int = 0
    median_us: float | None = None


Report: TypeAlias = Callable[[GradeProgress], None]
