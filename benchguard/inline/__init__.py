"""Timing within the submission's own process, for submissions that cannot be replayed. Trust: inline."""
