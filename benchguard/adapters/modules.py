"""Import a task's files, which import each other by bare names.

Several tasks have a module `utils`, so these names are in sys.modules only while the task's own code runs.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from ..problem.errors import blaming
from ..problem.sources import INSTALLED, Source, Sources, sources_of
from ..problem.withheld import is_withheld

SUBMISSION = "submission"
"""A name that a judge never imports."""


class TaskModules:
    """`aliases` map missing modules to replacements."""

    def __init__(self, sources: Sources, aliases: Mapping[str, ModuleType] = {}) -> None:
        self._sources = sources
        self._loaded: dict[str, ModuleType] = dict(aliases)

    @classmethod
    def listed(cls, files: Mapping[str, Path]) -> TaskModules:
        """The files that a task lists, by module name."""
        modules = {
            name: path for name, path in files.items() if name not in INSTALLED and not is_withheld(path)
        }
        copied = {name: Source.read(path) for name, path in modules.items()}
        return cls(Sources(copied, {SUBMISSION, *files} - modules.keys() - INSTALLED))

    @classmethod
    def of(cls, file: Path, aliases: Mapping[str, ModuleType] = {}) -> TaskModules:
        """A file and the modules beside it that it imports."""
        beside = sources_of(file)
        copied = {**beside.modules, file.stem: Source.read(file)}
        return cls(Sources(copied, {SUBMISSION, *beside.refused} - copied.keys()), aliases)

    @contextmanager
    def active(self) -> Iterator[None]:
        names = {*self._sources.modules, *self._loaded, SUBMISSION}
        hidden = {name: sys.modules.pop(name) for name in names if name in sys.modules}
        sys.modules.update(self._loaded)
        try:
            with self._sources.importable():
                yield
        finally:
            for name in names:
                module = sys.modules.pop(name, None)
                if module is not None:
                    self._loaded[name] = module
            sys.modules.update(hidden)

    def load(self, name: str) -> ModuleType:
        """Import a module. Exceptions of the import become ProblemError."""
        with self.active(), blaming(self._sources.modules[name].path, "importing it"):
            return importlib.import_module(name)
