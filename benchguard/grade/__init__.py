"""Quarantine, replay, judge: from a problem and a submission to a verdict."""
