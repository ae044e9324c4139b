"""Commands that make setuptools build the native libraries with the package (docs/adr/0005).

pyproject.toml names these classes. setuptools loads this file by its path, so it cannot import the package.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from setuptools import Command
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build import build
from setuptools.errors import ExecError

ROOT = Path(__file__).resolve().parent


class BuildWithNative(build):
    """A sub-command rather than another build_py: setuptools only warns when that one fails."""

    sub_commands = [*build.sub_commands, ("build_native", None)]  # noqa: RUF012 - as setuptools declares it


class BuildNative(Command):
    """Compile the shim, the redirection, the CPU driver and the engine: into the wheel, or in place if editable."""

    description = "compile the native libraries"
    user_options = []  # noqa: RUF012 - as setuptools declares it

    def initialize_options(self) -> None:
        self.editable_mode = False
        self.build_lib: str | None = None

    def finalize_options(self) -> None:
        self.set_undefined_options("build_py", ("build_lib", "build_lib"))

    def run(self) -> None:
        if self.editable_mode and os.environ.get("NEUTRINO_BENCH_WITHOUT_NATIVE"):
            return  # build.py builds in place afterwards, and keeps the objects for the next change
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        command = [sys.executable, "-m", "benchguard.toolchain.native", "--out", str(self._folder())]
        done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, check=False)
        if done.returncode != 0:
            raise ExecError("the native libraries were not built; the compiler's message is above")

    def _folder(self) -> Path:
        base = ROOT if self.editable_mode or self.build_lib is None else Path(self.build_lib).resolve()
        return base / "benchguard" / "native"

    def get_source_files(self) -> list[str]:
        return []  # the C sources are package data, listed by build_py

    def get_outputs(self) -> list[str]:
        return [str(file) for file in self._folder().rglob("*") if file.is_file()]

    def get_output_mapping(self) -> dict[str, str]:
        return {}


class PlatformWheel(bdist_wheel):
    """Tagged for this platform, and for any Python 3: the libraries are plain C that no Python links."""

    def finalize_options(self) -> None:
        self.distribution.has_ext_modules = lambda: True  # else the files go to purelib
        super().finalize_options()

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]
