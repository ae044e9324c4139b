"""Replay captures in clean processes and time them: benchguard.replay("x.ncap") -> ReplayResult.

The package itself can be called, so that benchguard.replay is one thing whether or not one of its modules was
imported before.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """As benchguard.replay.replay.replay."""
        return import_module(f"{__name__}.replay").replay(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
