"""The folder tree is the architecture: who may use whom (docs/architecture.md)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
PACKAGE = ROOT / "benchguard"

LEAVES = {"callable_package", "errors", "exit_status", "version"}
"""Modules without imports of ours, or only of one another: every package may import them."""

# Which packages of ours each package may import, itself aside.
MAY_IMPORT = {
    "codegen": set(),
    "callable_package": set(),
    "errors": {"exit_status"},
    "exit_status": set(),
    "version": set(),
    "ipc": {"errors"},
    "capture": {"errors"},
    "region": {"errors"},
    "record": {"audit", "capture", "shim"},
    "problem": {"errors"},
    "shim": {"codegen", "errors", "toolchain"},
    "toolchain": {"codegen"},
    "audit": {"errors", "ipc", "shim", "toolchain"},
    "adapters": {"errors", "problem"},
    "inline": {"errors", "problem", "shim", "toolchain"},
    "judge": {"adapters", "errors", "ipc", "problem"},
    "replay": {"capture", "errors", "ipc", "shim", "toolchain"},
    "quarantine": {"audit", "capture", "errors", "inline", "ipc", "problem", "region", "shim", "toolchain"},
    "grade": {
        "adapters",
        "capture",
        "errors",
        "inline",
        "judge",
        "problem",
        "quarantine",
        "replay",
        "shim",
        "toolchain",
    },
    "compat": {"capture", "errors", "grade", "judge", "problem", "replay", "shim", "toolchain"},
    "cli": {
        "audit",
        "capture",
        "codegen",
        "compat",
        "errors",
        "grade",
        "ipc",
        "problem",
        "quarantine",
        "record",
        "replay",
        "shim",
        "toolchain",
    },
    "__init__": {"audit", "capture", "compat", "grade", "problem", "record", "region", "replay", "toolchain"},
    "__main__": {"cli"},
}


def imports_of(source: str, package: tuple[str, ...]) -> Iterator[str]:
    """Absolute names of everything a module of `package` imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else ()
            start = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{start}.{alias.name}" for alias in node.names)


def forbidden(part: str, names: Iterator[str]) -> list[str]:
    """Imports of ours that `part` may not have."""
    found = []
    for name in names:
        words = name.split(".")
        if words[0] == "tests":
            found.append(name)
        ours = words[0] == "benchguard" and len(words) > 1 and words[1] in MAY_IMPORT
        if ours and words[1] not in {part, *LEAVES, *MAY_IMPORT[part]}:
            found.append(name)
    return found


def python_files() -> list[Path]:
    folders = [PACKAGE, ROOT / "codegen"]
    return sorted(p for f in folders for p in f.rglob("*.py") if "source" not in p.relative_to(ROOT).parts)


def part_of(path: Path) -> tuple[str, tuple[str, ...]]:
    words = path.relative_to(ROOT).parts
    words = ("benchguard", *words) if words[0] == "codegen" else words
    part = words[1].removesuffix(".py")
    return part, words[:-1]


@pytest.mark.parametrize("path", python_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_python_imports_go_one_way(path: Path) -> None:
    part, package = part_of(path)
    assert forbidden(part, imports_of(path.read_text(), package)) == []


def test_a_forbidden_import_is_caught() -> None:
    """The test itself can fail."""
    source = "from ..cli import main\nfrom ..errors import BenchguardError\nimport tests.conftest\n"
    assert forbidden("audit", imports_of(source, ("benchguard", "audit"))) == [
        "benchguard.cli.main",
        "tests.conftest",
    ]


def includes(folder: str) -> Iterator[tuple[Path, str]]:
    for path in sorted((ROOT / folder).rglob("*.[chS]")):
        for name in INCLUDE.findall(path.read_text()):
            yield path, name


def names_in(folder: str) -> set[str]:
    return {path.name for path in (ROOT / folder).rglob("*.h")}


def test_the_core_knows_no_vendor() -> None:
    text = "".join(path.read_text() for path in (ROOT / "hook" / "core").glob("*.[ch]"))
    assert "cuda.h" not in text and "hip_runtime" not in text
    assert not [name for _, name in includes("hook/core") if name in names_in("hook/cuda")]


def test_hook_and_sim_do_not_meet() -> None:
    """A file of the same name in both is included from its own folder: sim's are searched in sim alone."""
    own = {"hook": names_in("hook"), "sim": names_in("sim")}
    generated = {"real.h", "special.h", "surface.h"}
    assert [name for _, name in includes("hook") if Path(name).name not in own["hook"] | generated] == []
    elsewhere = {"names.h", "hip_names.h", "hip_extra.h"}  # generated, and codegen's
    assert [name for _, name in includes("sim") if Path(name).name not in own["sim"] | elsewhere] == []


def test_preload_uses_the_filter_alone() -> None:
    assert {name for _, name in includes("preload")} == {"../hook/core/base/filter.h"}
