"""The exit statuses of neutrino-bench (docs/cli.md)."""

PASS = 0
WRONG = 1
"""Also a log whose chain is broken, and a failed check of `doctor`."""
USAGE = 2
VIOLATION = 3
UNREPLAYABLE = 4
UNCONVERGED = 5
SLOWER = 6
UNSURE = 7
UNPROVEN = 8
"""With --require-evidence: a check of the time could not tell."""
FAILED = 65
"""The submission failed to import, compile or run."""
INTERNAL = 70
"""neutrino-bench or this machine failed."""
TIMEOUT = 124
NOT_EXECUTABLE = 126
NOT_FOUND = 127
INTERRUPTED = 130
