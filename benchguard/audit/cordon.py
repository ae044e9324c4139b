"""A policy as a session carries it: the table for the shim, and what the log says about it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cordon:
    """A compiled policy. `sha256` is that of its file; `rules` are the rules' names, in order."""

    name: str
    sha256: str
    rules: tuple[str, ...]
    table: bytes
    """As hook/core/wire/policy.h defines it."""
    uncovered: tuple[str, ...] = ()
    """Calls that a rule leaves out, because the driver is newer than the shim's headers: call and rule."""
