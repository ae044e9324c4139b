"""The one error of this package."""

from __future__ import annotations

from ..errors import BenchguardError


class ShimError(BenchguardError):
    """No driver or compiler was found, or a source does not compile."""

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(message)
        self.output = output
        """The complete output of the compiler, if a source does not compile."""
