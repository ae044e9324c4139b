"""A small driver to find and to make shims for, and a cache of the test's own."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

FUNCTIONS = ("cuInit", "cuDriverGetVersion", "cuMemAlloc_v2", "cuCtxGetCurrent", "cuBrandNew")


def compile_library(output: Path, functions: tuple[str, ...], soname: str = "libcuda.so.1") -> Path:
    """A library whose n-th function returns 100 + n."""
    output.parent.mkdir(parents=True, exist_ok=True)
    source = output.with_suffix(".c")
    source.write_text(
        "".join(f"int {name}(void) {{ return {100 + n}; }}\n" for n, name in enumerate(functions))
    )
    command = [
        "cc",
        "-shared",
        "-fPIC",
        "-Wl,-Bsymbolic",
        f"-Wl,-soname,{soname}",
        str(source),
        "-o",
        str(output),
    ]
    subprocess.run(command, check=True)
    return output


@pytest.fixture(scope="session")
def driver_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A driver with five functions, one of which no header has."""
    return compile_library(tmp_path_factory.mktemp("driver") / "libcuda.so.1", FUNCTIONS)


@pytest.fixture
def make_library(tmp_path: Path) -> Callable[..., Path]:
    return lambda name, *functions, **more: compile_library(tmp_path / name, functions, **more)


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment whose cache is empty at first; one for the session, since a build takes seconds."""
    return {"XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}
