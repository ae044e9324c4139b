"""What goes wrong in ways that a user can mend: one line saying what, where, and what to do."""

from __future__ import annotations


class BenchguardError(Exception):
    """The message is for the user, whole; `status` is the exit status it leads to."""

    status = 70


class UsageError(BenchguardError):
    """The command was called in a way it cannot be."""

    status = 2
