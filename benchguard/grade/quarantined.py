"""What of a quarantine's end is already a verdict."""

from __future__ import annotations

from ..quarantine.contract import Quarantined
from .result import Verdict
from .specification import Finding


def finding_of(found: Quarantined) -> Finding | None:
    """None if there are captures to go on with. What the submission says of itself is only ever a reason against it."""
    if found.timed_out:
        return Finding(
            "timeout",
            f"the submission did not end within {found.wall_s:.0f} s; raise --timeout, or make it faster",
        )
    if found.altered:
        return Finding(
            "violation", "the submission's files were changed while it ran; they must stay as handed in"
        )
    if found.broke is not None:
        kind: Verdict = "unreplayable" if found.broke.unreplayable else "error"
        return Finding(kind, f"the submission failed in {found.broke.phase}: {found.broke.text}")
    if found.trouble:
        return Finding("error", found.trouble)
    if found.audit.dropped:
        return Finding(
            "error",
            f"{found.audit.dropped} records of the audit log were lost, so this run cannot be judged; run it again",
        )
    return None
