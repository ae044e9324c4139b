"""What a grade tells of itself while it goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class GradeProgress:
    """`phase` is for people; samples so far and their median where it is a replay's."""

    phase: str
    case: str = ""
    samples: int = 0
    median_us: float | None = None


Report: TypeAlias = Callable[[GradeProgress], None]
