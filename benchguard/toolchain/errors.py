"""The one error of this package."""

from __future__ import annotations


class ShimError(Exception):
    """No driver, no compiler, or a source that does not compile. One line: what, where, what to do."""
