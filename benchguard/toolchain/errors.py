"""The one error of this package."""

from __future__ import annotations


class ShimError(Exception):
    """No driver, no compiler, or a source that does not compile. One line: what, where, what to do."""

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(message)
        self.output = output
        """Everything that the compiler wrote, where a source does not compile."""
