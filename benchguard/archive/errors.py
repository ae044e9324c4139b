"""The error for a bundle that cannot be trusted."""

from __future__ import annotations

from .. import exit_status
from ..errors import BenchguardError


class BundleError(BenchguardError):
    """A bundle is damaged, was changed, or is hostile."""

    status = exit_status.WRONG
