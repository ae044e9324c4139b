"""Policies: which driver calls a process may make in which phase (docs/policy.md)."""

from __future__ import annotations

from ..audit.cordon import Cordon
from ..shim.surface import Surface
from .compiling import compile_policy
from .file import NAMES, Policy, load_policy

__all__ = ["NAMES", "Cordon", "Policy", "compile_policy", "cordon_for", "load_policy"]


def cordon_for(spec: str | None, surface: Surface) -> Cordon | None:
    """The compiled policy that a file's path or a name stands for; None for None. Raises UsageError."""
    return None if spec is None else compile_policy(load_policy(spec), surface)
