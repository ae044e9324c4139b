"""Fixtures for every test: the built libraries, and a compiler for small C programs."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("any machine", deadline=None)  # 200 ms an example are too few on a loaded one
settings.load_profile("any machine")

pytest_plugins = ["tests.tiers", "tests.skipped"]

ROOT = Path(__file__).parents[1]
NATIVE = ROOT / "benchguard" / "native"
DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="session")
def native() -> Path:
    """The folder of the packaged libraries; building them is `python build.py build`."""
    if not (NATIVE / "sim" / "libcuda.so.1").is_file():
        pytest.fail(f"{NATIVE} is not built: run `python build.py build`")
    return NATIVE


@pytest.fixture(scope="session")
def cuda_include() -> Path:
    from benchguard.codegen.headers import find_headers

    return find_headers().folder


@pytest.fixture(scope="session")
def compile_c(tmp_path_factory: pytest.TempPathFactory, cuda_include: Path) -> Callable[..., Path]:
    """Compile C sources to a program, or to a library if the name ends so; each name once a session."""
    folder = tmp_path_factory.mktemp("programs")

    def compile_(name: str, *sources: Path, flags: tuple[str, ...] = (), links: tuple[str, ...] = ()) -> Path:
        output = folder / name
        if not output.exists():
            output.parent.mkdir(parents=True, exist_ok=True)
            shared = ["-shared", "-fPIC", "-fvisibility=hidden"] if ".so" in name else []
            command = [
                "cc",
                "-std=gnu11",
                "-O1",
                "-g",
                "-Wall",
                "-Wextra",
                "-Werror",
                *shared,
                f"-I{cuda_include}",
            ]
            command += [*flags, *map(str, sources), "-o", str(output), "-pthread", "-ldl", *links]
            subprocess.run(command, check=True)
        return output

    return compile_
