"""The limits of a service."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ServeOptions:
    """Limits that protect programs from one another, and the machine from all of them."""

    any_user: bool = False
    """Whether programs of other users may attach."""
    max_programs: int = 64
    max_programs_per_user: int = 48
    max_log_bytes: int = 1 << 30
    max_total_bytes: int = 64 << 30
    image_bytes: int = 1 << 30
    """Shared memory for the code images of one program."""
