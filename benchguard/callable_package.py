"""Packages that can be called, so that `benchguard.grade(...)` works although benchguard/grade/ is a package.

Importing a submodule of benchguard/grade/ makes `benchguard.grade` the package, whatever it was before.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Calls the function of this package's name, in its module of that name."""
        name = self.__name__.rpartition(".")[2]
        return getattr(import_module(f"{self.__name__}.{name}"), name)(*arguments, **options)


def make_callable(package: str) -> None:
    """Makes an imported package callable."""
    sys.modules[package].__class__ = _CallablePackage
