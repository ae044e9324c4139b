"""The folder tree is the architecture (docs/architecture.md): which part uses which, and no circles."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.dependencies import (
    c_files,
    circle_in,
    import_graph,
    imports_of,
    include_graph,
    includes_of,
    resolve_include,
)

PACKAGE = ROOT / "benchguard"

LEAVES = {"callable_package", "errors", "exit_status", "units", "version"}
"""Modules without imports of ours, or only of one another: every package may import them."""

# The packages of ours that each package may import, besides itself.
MAY_IMPORT = {
    "codegen": set(),
    "callable_package": set(),
    "errors": {"exit_status"},
    "exit_status": set(),
    "units": set(),
    "version": set(),
    "ipc": {"errors"},
    "archive": {"errors", "exit_status", "ipc"},
    "capture": {"errors", "ipc", "toolchain"},
    "probe": {"audit", "capture", "errors", "images", "ipc", "quarantine"},
    "region": {"errors"},
    "phase": {"errors"},
    "policy": {"audit", "errors", "shim"},
    "problem": {"errors", "ipc"},
    "record": {"audit", "capture", "policy", "shim"},
    "shim": {"codegen", "errors", "ipc", "toolchain"},
    "toolchain": {"codegen"},
    "audit": {"errors", "ipc", "shim", "toolchain"},
    "serve": {"audit", "errors", "ipc", "policy", "shim"},
    "adapters": {"errors", "ipc", "problem"},
    "findings": {"audit", "errors", "ipc"},
    "inline": {"errors", "ipc", "problem", "shim", "toolchain"},
    "judge": {"adapters", "errors", "ipc", "problem"},
    "replay": {"capture", "errors", "gpu", "ipc", "quarantine", "shim", "toolchain"},
    "quarantine": {
        "audit",
        "capture",
        "errors",
        "gpu",
        "inline",
        "ipc",
        "phase",
        "policy",
        "problem",
        "region",
        "shim",
        "toolchain",
    },
    "gpu": {"errors", "ipc"},
    "grade": {
        "adapters",
        "archive",
        "audit",
        "capture",
        "errors",
        "gpu",
        "inline",
        "ipc",
        "judge",
        "probe",
        "problem",
        "quarantine",
        "replay",
        "shim",
        "toolchain",
    },
    "images": {"audit", "capture", "errors", "ipc", "quarantine"},
    "report": {"audit", "errors", "findings", "grade", "ipc", "probe"},
    "compat": {"capture", "errors", "grade", "ipc", "judge", "problem", "replay", "shim", "toolchain"},
    "machine": {
        "audit",
        "codegen",
        "errors",
        "ipc",
        "quarantine",
        "serve",
        "shim",
        "toolchain",
    },
    "fleet": {"errors", "gpu", "grade", "ipc", "machine", "quarantine", "shim"},
    "rewards": {"errors", "fleet", "grade", "ipc", "quarantine"},
    "cli": {
        "adapters",
        "archive",
        "audit",
        "capture",
        "codegen",
        "compat",
        "errors",
        "findings",
        "fleet",
        "gpu",
        "grade",
        "images",
        "ipc",
        "machine",
        "policy",
        "probe",
        "problem",
        "quarantine",
        "record",
        "replay",
        "rewards",
        "serve",
        "report",
        "shim",
        "toolchain",
    },
    "__init__": {
        "audit",
        "capture",
        "compat",
        "findings",
        "fleet",
        "gpu",
        "grade",
        "phase",
        "problem",
        "record",
        "region",
        "replay",
        "toolchain",
    },
    "__main__": {"cli"},
}

C_FOLDERS = ("hook", "preload", "engine", "sim")
INCLUDE_ROOTS = ("hook", "engine", "sim", "codegen/semantics")
GENERATED = {"real.h", "special.h", "surface.h", "names.h", "hip_names.h", "hip_extra.h"}

# The folders whose headers each folder may include, besides its own.
MAY_INCLUDE: dict[str, set[str]] = {
    "hook/core": set(),
    "hook/cuda": {"hook/core"},
    "hook/hip/driver": {"hook/core/driver"},
    "hook/hip/bridge": {"hook/hip/driver"},
    "hook/hip/hooks": {"hook/core", "hook/cuda", "hook/hip/driver"},
    "preload": {"hook/core/base"},
    "engine/replay": {"hook/core/image", "hook/core/wire"},
    "engine/inline": set(),
    "sim/ptx": set(),
    "sim/driver": {"sim/ptx"},
    "sim/nvrtc": set(),
    "sim/runtime": set(),
    "sim/hip": {"sim/driver", "sim/ptx", "sim/runtime", "codegen/semantics"},
}


def python_modules() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    items = {}
    for folder, parent in ((PACKAGE, ROOT), (ROOT / "codegen", ROOT)):
        for path in sorted(folder.rglob("*.py")):
            words = path.relative_to(parent).with_suffix("").parts
            words = ("benchguard", *words) if words[0] == "codegen" else words
            if "source" not in words:
                items[".".join(words[:-1] if words[-1] == "__init__" else words)] = path
    return items


MODULES = python_modules()


def forbidden_imports(part: str, names: Iterable[str]) -> list[str]:
    """The imports that the package `part` must not have."""
    results = []
    for name in names:
        words = name.split(".")
        if words[0] == "tests":
            results.append(name)
        ours = words[0] == "benchguard" and len(words) > 1 and words[1] in MAY_IMPORT
        if ours and words[1] not in {part, *LEAVES, *MAY_IMPORT[part]}:
            results.append(name)
    return results


def package_of(module: str) -> tuple[str, ...]:
    words = tuple(module.split("."))
    return words if MODULES[module].name == "__init__.py" else words[:-1]


@pytest.mark.parametrize("module", sorted(MODULES))
def test_python_imports_follow_the_layers(module: str) -> None:
    part = module.split(".")[1] if "." in module else "__init__"
    assert forbidden_imports(part, imports_of(MODULES[module].read_text(), package_of(module))) == []


def test_forbidden_import_is_found() -> None:
    source = "from ..cli import main\nfrom ..errors import BenchguardError\nimport tests.conftest\n"
    assert forbidden_imports("audit", imports_of(source, ("benchguard", "audit"))) == [
        "benchguard.cli.main",
        "tests.conftest",
    ]


def test_python_modules_have_no_import_circle() -> None:
    assert circle_in(import_graph(MODULES)) == []


def test_planted_import_circle_is_found(tmp_path: Path) -> None:
    """Three modules, one import of each spelling; then the same without the closing import."""
    texts = {"p.a": "from . import b\n", "p.b": "from .c import value\n", "p.c": "import p.a\nvalue = 1\n"}
    modules = {name: tmp_path / f"{name}.py" for name in texts}
    for name, text in texts.items():
        modules[name].write_text(text)
    assert set(circle_in(import_graph(modules))) == {"p.a", "p.b", "p.c"}
    modules["p.c"].write_text("value = 1\n")
    assert circle_in(import_graph(modules)) == []


def layer_of(path: str) -> str:
    """The longest entry of MAY_INCLUDE that holds a file."""
    return max((each for each in MAY_INCLUDE if path.startswith(f"{each}/")), key=len, default="")


@pytest.mark.parametrize("path", c_files(ROOT, C_FOLDERS), ids=lambda path: str(path.relative_to(ROOT)))
def test_c_includes_follow_the_layers(path: Path) -> None:
    layer = layer_of(str(path.relative_to(ROOT)))
    assert layer, "a folder of C sources is missing in MAY_INCLUDE"
    for name in includes_of(path):
        target = resolve_include(ROOT, path, name, INCLUDE_ROOTS)
        if target is None:
            assert name in GENERATED, f"{name}: neither a file of ours nor a generated header"
        else:
            used = str(target.relative_to(ROOT))
            assert any(used.startswith(f"{each}/") for each in (layer, *MAY_INCLUDE[layer])), used


def test_c_sources_have_no_include_circle() -> None:
    assert circle_in(include_graph(ROOT, C_FOLDERS, INCLUDE_ROOTS)) == []


def test_planted_include_circle_is_found(tmp_path: Path) -> None:
    """base/log.h uses ring/ring.h, whose source uses base/log.h."""
    for name, text in {
        "hook/base/log.h": '#include "ring/ring.h"\n',
        "hook/ring/ring.h": "",
        "hook/ring/ring.c": '#include "base/log.h"\n#include "ring/ring.h"\n',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert set(circle_in(include_graph(tmp_path, ("hook",), ("hook",)))) == {
        "hook/base/log",
        "hook/ring/ring",
    }
    (tmp_path / "hook/base/log.h").write_text("")
    assert circle_in(include_graph(tmp_path, ("hook",), ("hook",))) == []


def test_core_names_no_vendor_header() -> None:
    files = c_files(ROOT, ("hook/core",))
    assert len(files) > 50
    text = "".join(path.read_text() for path in files)
    assert "<cuda" not in text and "hip_runtime" not in text
