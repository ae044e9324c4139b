"""What goes wrong with captures."""

from __future__ import annotations

from ..errors import BenchguardError


class CaptureError(BenchguardError):
    """A recording or a capture that is not what was written: cut short, corrupt, hostile, or too large."""
