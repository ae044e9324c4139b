"""Findings about the log itself: is it complete?"""

from __future__ import annotations

from ..fields import Line
from ..report import Found
from ..rules import Rule, Severity

INCOMPLETE = Rule(
    "incomplete-log",
    Severity.error,
    "the log is not complete, so work may be missing in it",
    "Records were lost, a trace ring was corrupt, or a process of the command still ran when the log "
    "ended. A check on an incomplete log that finds nothing proves nothing.",
    "Run again with less else on the machine; let the program wait for its child processes.",
)
UNOBSERVED = Rule(
    "unobserved-process",
    Severity.info,
    "a child process ran without the shim",
    "A child process was started without the environment that puts it under the shim. Its GPU work is not "
    "in the log.",
    "Keep LD_PRELOAD and NEUTRINO_* in the environment of child processes that use the GPU.",
)
RULES = (INCOMPLETE, UNOBSERVED)


def check_end(found: Found, line: Line) -> bool:
    """Look at a log's last line. Returns whether the log is complete."""
    is_complete = line.flag("complete")
    if not is_complete:
        dropped, corrupt = line.integer("dropped"), line.integer("corrupt_rings")
        text = f"{dropped} records dropped, {corrupt} rings corrupt"
        found.add(INCOMPLETE, 0, text, (line.number,))
    for command in line.texts("unobserved")[:10]:
        found.add(UNOBSERVED, 0, command, (line.number,))
    return is_complete
