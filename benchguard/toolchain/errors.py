"""The errors of this package and of `shim`."""

from __future__ import annotations

from ..errors import BenchguardError, UsageError


class ShimError(BenchguardError):
    """No driver or compiler was found, or a source does not compile."""

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(message)
        self.output = output
        """The complete output of the compiler, if a source does not compile."""


class DriverChoiceError(UsageError, ShimError):
    """The driver that was asked for cannot be used: it is not a driver, or a driver of the wrong vendor."""
