"""Packages that can be called, so that `benchguard.grade(...)` works although benchguard/grade/ is a package.

Importing a submodule of benchguard/grade/ makes `benchguard.grade` the package, whatever it was before.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    _module: str

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Calls the function of this package's name."""
        name = self.__name__.rpartition(".")[2]
        return getattr(import_module(self._module), name)(*arguments, **options)


def make_callable(package: str, module: str = "") -> None:
    """Makes an imported package callable. The function is in `module`, or in the package's module of its own name."""
    called = sys.modules[package]
    called.__class__ = _CallablePackage
    called._module = module or f"{package}.{package.rpartition('.')[2]}"  # type: ignore[attr-defined]
