"""A deadline that moves by the time in which nothing could be done."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass
class Deadline:
    """`at` is a time of the monotonic clock."""

    at: float

    def left(self) -> float:
        """Seconds; negative after the deadline."""
        return self.at - time.monotonic()
