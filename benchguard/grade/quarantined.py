"""Verdicts that follow from how the sandboxed run ended, before any replay."""

from __future__ import annotations

from ..quarantine.contract import Audit, Quarantined
from .result import Verdict
from .specification import Finding


def finding_of(quarantined: Quarantined) -> Finding | None:
    """Why there is nothing to replay; None if there are captures.

    The submission's own words can lead to any verdict but a pass.
    """
    if quarantined.timed_out and quarantined.is_ours:
        return Finding(
            "error",
            f"the sandbox or the driver was not ready after {quarantined.wall_s:.0f} s, so no code of the submission "
            "ran; raise --timeout, or give the machine less work",
        )
    if quarantined.timed_out:
        return Finding(
            "timeout",
            f"{quarantined.trouble}; raise --timeout, or make the call smaller"
            if quarantined.trouble
            else f"the submission was killed after {quarantined.wall_s:.0f} s; raise --timeout, or make it faster",
        )
    if quarantined.altered:
        return Finding("violation", "the submission changed its own files while it ran; keep them unchanged")
    if quarantined.broke is not None:
        kind: Verdict = "unreplayable" if quarantined.broke.unreplayable else "failed"
        return Finding(kind, f"the submission failed in {quarantined.broke.phase}: {quarantined.broke.text}")
    if quarantined.trouble:
        return Finding("error" if quarantined.is_ours else "failed", quarantined.trouble)
    return _lost(quarantined.audit)


def _lost(audit: Audit) -> Finding | None:
    """Why a run whose audit log lacks records cannot be judged."""
    if audit.unread_bytes:
        return Finding(
            "timeout",
            f"{audit.unread_bytes} bytes of traced driver calls were not read before the time-out; "
            "make fewer calls, or raise --timeout",
        )
    if audit.dropped:
        # The writer waits for room until the time-out, so records are lost only if the submission writes to the rings.
        return Finding(
            "failed",
            f"{audit.dropped} records of the audit log were lost, so the run cannot be judged; "
            "launch work through the CUDA driver only",
        )
    return None
