"""The limits of a service."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import UsageError


@dataclass(frozen=True)
class ServeOptions:
    """Limits that protect programs from one another, and the machine from all of them."""

    any_user: bool = False
    """Whether programs of other users may attach."""
    max_programs: int = 64
    max_programs_per_user: int = 48
    max_log_bytes: int = 1 << 30
    max_total_bytes: int = 64 << 30
    log_size: int | None = None
    """Bytes of a file of a log, which continues in other files. None: one file."""
    image_bytes: int = 1 << 30
    """Shared memory for the code images of one program."""

    def __post_init__(self) -> None:
        if self.log_size is not None and self.log_size >= self.max_log_bytes:
            raise UsageError(
                f"a log ends at {self.max_log_bytes} bytes, before --log-size; give a larger --max-log-bytes"
            )
