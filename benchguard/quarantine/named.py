"""Functions by name, so that this package does not import the packages above it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def function_named(name: str) -> Callable[..., Any]:
    """The function MODULE:FUNCTION. The name comes from our own supervisor."""
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found
