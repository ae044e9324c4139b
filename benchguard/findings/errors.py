"""The error of the analysis."""

from __future__ import annotations

from .. import exit_status
from ..errors import BenchguardError


class FindingsError(BenchguardError):
    """A log has a line that no run writes, or more streams or processes than the analysis follows."""

    status = exit_status.WRONG
