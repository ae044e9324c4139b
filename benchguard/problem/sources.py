"""The modules that a problem imports from its own folder: an explicit list, copied when the problem is opened.

The folder itself is never on sys.path. Submissions and files of other problems may lie there, and libraries try to
import optional modules by name.
"""

from __future__ import annotations

import ast
import importlib.abc
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec, PathFinder
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

from .errors import ProblemError
from .withheld import INITIAL, is_withheld, refusal_of

FILES_MAX = 4096
FILE_BYTES_MAX = 16 << 20
INSTALLED = frozenset(sys.stdlib_module_names) | {"benchguard", "msgspec", "numpy", "torch", "triton"}
"""Modules that are never taken from a problem's folder."""


@dataclass(frozen=True)
class Source:
    """The file of a module and a copy of its text.

    `text` is None in two cases: a package without __init__.py has no file, and the file of an extension module is not
    copied.
    """

    path: Path
    text: bytes | None

    @classmethod
    def read(cls, path: Path) -> Source:
        """Raises ProblemError."""
        try:
            with path.open("rb") as stream:
                text = stream.read(FILE_BYTES_MAX + 1)
        except OSError as error:
            raise ProblemError(f"{path} cannot be read: {error.strerror}") from error
        if len(text) > FILE_BYTES_MAX:
            raise ProblemError(
                f"{path} has more than {FILE_BYTES_MAX >> 20} MiB; it is not a module's source"
            )
        return cls(path, text)


class Sources:
    """Finds the listed modules. Submissions are on the list of refused names, so that their import has a reason."""

    def __init__(self, modules: Mapping[str, Source], refused: Iterable[str] = ()) -> None:
        self.modules, self.refused = dict(modules), frozenset(refused)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        if name in self.refused:
            raise ModuleNotFoundError(refusal_of(name), name=name)
        source = self.modules.get(name)
        return spec_of(name, source) if source is not None else None

    @contextmanager
    def importable(self) -> Iterator[None]:
        """Let imports find the listed modules."""
        sys.meta_path.insert(0, self)
        try:
            yield
        finally:
            sys.meta_path.remove(self)


def spec_of(name: str, source: Source) -> ModuleSpec | None:
    """The spec of a module from the copied text. A package's `__path__` is empty: only the list has its modules."""
    if source.text is None and source.path.is_dir():
        return ModuleSpec(name, None, is_package=True)
    if source.text is None:
        return spec_from_file_location(name, source.path)
    is_package = source.path.name == INITIAL
    return spec_from_file_location(
        name,
        source.path,
        loader=_Copied(source.path, source.text),
        submodule_search_locations=[] if is_package else None,
    )


class _Copied(importlib.abc.SourceLoader):
    """Loads a module from a copy of its text, neither from bytecode nor from the file."""

    def __init__(self, path: Path, text: bytes) -> None:
        self._path, self._text = path, text

    def get_filename(self, fullname: str) -> str:
        del fullname
        return str(self._path)

    def get_data(self, path: bytes | str) -> bytes:
        return self._text if str(path) == str(self._path) else Path(str(path)).read_bytes()


def sources_of(file: Path) -> Sources:
    """The modules beside `file` that it names in its imports, directly or through such a module.

    Raises:
        ProblemError: a name could mean a file of the folder or an installed package.
    """
    sources: dict[str, Source] = {}
    refused: list[str] = []
    pending = [Source.read(file)]
    names: set[str] = set()
    while pending:
        for name in sorted(_imported(pending.pop()) - names - INSTALLED):
            names.add(name)
            modules = dict(_modules(file.parent, name))
            if not modules:
                continue
            if all(is_withheld(source.path) for source in modules.values()):
                if _installed(name, file.parent) is None:
                    refused.append(name)
                continue
            other = _installed(name, file.parent)
            if other is not None:
                raise ProblemError(
                    f"{file} imports {name}, which is a file beside it and an installed package ({other}); "
                    "rename the file"
                )
            visible = {each: source for each, source in modules.items() if not is_withheld(source.path)}
            sources.update(visible)
            pending += [source for source in visible.values() if source.text is not None]
    return Sources(sources, refused)


def _imported(source: Source) -> set[str]:
    """Top-level names that a source imports, also in functions; empty if it is not Python."""
    try:
        tree = ast.parse(source.text or b"")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()  # importing it gives the reason
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.partition(".")[0])
        elif (
            isinstance(node, ast.Call)
            and node.args
            and _name_of(node.func) in ("import_module", "__import__")
        ):
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                names.add(first.value.partition(".")[0])
    return names


def _name_of(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _modules(folder: Path, name: str) -> Iterator[tuple[str, Source]]:
    """A module or a whole package of the folder, by full names."""
    place = folder / name
    if place.is_dir():
        paths = sorted(place.rglob("*.py"))
        if len(paths) > FILES_MAX:
            raise ProblemError(
                f"the package {place} has more than {FILES_MAX} modules; the judge copies fewer"
            )
        for path in paths:
            words = path.relative_to(folder).with_suffix("").parts
            yield ".".join(words[:-1] if path.name == INITIAL else words), Source.read(path)
        for each in {parent for path in paths for parent in path.parents if parent.is_relative_to(place)}:
            if not (each / INITIAL).is_file():
                yield ".".join(each.relative_to(folder).parts), Source(each, None)
    elif (folder / f"{name}.py").is_file():
        yield name, Source.read(folder / f"{name}.py")
    else:
        for suffix in EXTENSION_SUFFIXES:
            if (folder / f"{name}{suffix}").is_file():
                yield name, Source(folder / f"{name}{suffix}", None)
                return


def _installed(name: str, folder: Path) -> str | None:
    """Where Python finds a module of this name outside of the folder; packages without a file do not count."""
    elsewhere = [entry for entry in sys.path if entry and Path(entry).resolve() != folder]
    spec = PathFinder.find_spec(name, elsewhere)
    return spec.origin if spec is not None else None
