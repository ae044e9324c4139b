"""The exception for bad captures."""

from __future__ import annotations

from ..errors import BenchguardError


class CaptureError(BenchguardError):
    """A raw capture or a capture that is truncated, damaged, hostile or too large."""
