"""The error of this package."""

from __future__ import annotations

from ..errors import BenchguardError


class ShimError(BenchguardError):
    """No driver or compiler was found, or a source does not compile."""
