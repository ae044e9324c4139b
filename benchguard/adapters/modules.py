"""Import a task's files, which import each other by bare names.

Several tasks have a module `utils`, so these names are in sys.modules only while the task's own code runs.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

from ..problem.errors import blaming

SUBMISSION = "submission"
"""Modules that a judge never imports."""

_NOT_A_TASKS = frozenset(sys.stdlib_module_names) | {"torch", "numpy", "triton", "benchguard"}


class TaskModules:
    """`files` by module name. `aliases` map missing modules to replacements."""

    def __init__(self, files: Mapping[str, Path], aliases: Mapping[str, ModuleType] = {}) -> None:
        self.files = {name: path for name, path in files.items() if name not in _NOT_A_TASKS}
        self._loaded: dict[str, ModuleType] = dict(aliases)

    @contextmanager
    def active(self) -> Iterator[None]:
        names = {*self.files, *self._loaded, SUBMISSION}
        hidden = {name: sys.modules.pop(name) for name in names if name in sys.modules}
        sys.modules.update(self._loaded)
        finder = _Finder(self.files)
        sys.meta_path.insert(0, finder)
        try:
            yield
        finally:
            sys.meta_path.remove(finder)
            for name in names:
                module = sys.modules.pop(name, None)
                if module is not None:
                    self._loaded[name] = module
            sys.modules.update(hidden)

    def load(self, name: str) -> ModuleType:
        """Import a module. Exceptions of the import become ProblemError."""
        with self.active(), blaming(self.files[name], "importing it"):
            return importlib.import_module(name)


class _Finder:
    def __init__(self, files: Mapping[str, Path]) -> None:
        self._files = files

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        if name == SUBMISSION:
            raise ImportError(
                "a judge does not import submissions; remove this import from the task's own code"
            )
        return spec_from_file_location(name, self._files[name]) if name in self._files else None


def siblings(file: Path) -> dict[str, Path]:
    """The Python files in a file's folder, by module name."""
    found = {each.stem: each for each in sorted(file.parent.glob("*.py")) if each.stem.isidentifier()}
    return {**found, file.stem: file}
