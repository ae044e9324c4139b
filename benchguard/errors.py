"""Errors whose message is one line for the user: what happened, where, and what to do."""

from __future__ import annotations

from . import exit_status


class BenchguardError(Exception):
    """The base of all exceptions that neutrino-bench documents.

    Attributes:
        status: The exit status that the command line ends with.
    """

    status = exit_status.INTERNAL


class UsageError(BenchguardError):
    """An argument or an option is invalid."""

    status = exit_status.USAGE
