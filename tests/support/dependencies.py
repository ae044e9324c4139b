"""The include graph of the C sources and the import graph of the Python modules, read from the files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

Graph = dict[str, set[str]]
"""For each node, the nodes that it uses."""

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
C_SUFFIXES = {".c", ".h", ".S", ".cu", ".cuh"}


def includes_of(path: Path) -> list[str]:
    """The quoted includes of a C source, as written."""
    return INCLUDE.findall(path.read_text())


def c_files(root: Path, folders: tuple[str, ...]) -> list[Path]:
    """The C sources and headers below `folders` of `root`, sorted."""
    return sorted(p for name in folders for p in (root / name).rglob("*") if p.suffix in C_SUFFIXES)


def resolve_include(root: Path, source: Path, name: str, include_roots: tuple[str, ...]) -> Path | None:
    """The file of ours that an include names, or None: generated headers are in no folder of ours."""
    for folder in (source.parent, *(root / each for each in include_roots)):
        result = (folder / name).resolve()
        if result.is_file() and result.is_relative_to(root):
            return result
    return None


def include_graph(root: Path, folders: tuple[str, ...], include_roots: tuple[str, ...]) -> Graph:
    """Which source uses which. A .c file and the header of the same name are one node."""
    graph: Graph = {}

    def node_of(path: Path) -> str:
        name = path.relative_to(root)
        return str(name.with_suffix("") if name.suffix in {".c", ".h"} else name)

    for source in c_files(root, folders):
        node = node_of(source)
        used = graph.setdefault(node, set())
        for name in includes_of(source):
            target = resolve_include(root, source, name, include_roots)
            if target is not None:
                used.add(node_of(target))
        used.discard(node)
    return graph


def imports_of(source: str, package: tuple[str, ...]) -> Iterator[str]:
    """Absolute names of everything that a module of `package` imports when it runs."""
    for node in _running_nodes(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else ()
            start = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{start}.{alias.name}" for alias in node.names)


def _running_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node but those below `if TYPE_CHECKING:`, which only a type checker reads."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        yield node
        yield from _running_nodes(node)


def import_graph(modules: Mapping[str, Path]) -> Graph:
    """Which module uses which, of `modules` (dotted name to file). Importing a name of a module uses the module."""
    graph: Graph = {}
    for name, path in modules.items():
        package = tuple(name.split(".") if path.name == "__init__.py" else name.split(".")[:-1])
        used = graph.setdefault(name, set())
        for imported in imports_of(path.read_text(), package):
            module = imported if imported in modules else imported.rpartition(".")[0]
            if module in modules and module != name:
                used.add(module)
    return graph


def circle_in(graph: Graph) -> list[str]:
    """One circle of the graph, each node using the next, or an empty list."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []
