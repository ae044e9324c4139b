"""Run the machine's C compiler."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchguard.codegen.errors import CodegenError
from benchguard.codegen.preprocess import compiler_command

from .errors import ShimError

COMPILE_FLAGS = (
    "-std=gnu11", "-O2", "-g1", "-fPIC", "-fvisibility=hidden", "-fno-omit-frame-pointer", "-D_GNU_SOURCE",
    "-ffp-contract=off",
    "-Wall", "-Wextra", "-Wconversion", "-Werror",
)  # fmt: skip
LINK_FLAGS = (
    "-shared",
    "-Wl,-z,now",
    "-Wl,-z,relro",
    "-Wl,-z,noexecstack",
    "-Wl,-Bsymbolic",
    "-Wl,--as-needed",
)
SANITIZERS = ("address,undefined", "thread")
_DIAGNOSTIC = re.compile(r"^.*\b(?:fatal error|error|undefined reference)\b.*$", re.MULTILINE)


@dataclass(frozen=True)
class Compiler:
    command: tuple[str, ...]
    version: str


@dataclass(frozen=True)
class Library:
    """What to compile into one shared library."""

    sources: tuple[Path, ...]
    soname: str
    version_script: Path
    includes: tuple[Path, ...] = ()
    system_includes: tuple[Path, ...] = ()
    """Searched without warnings: the vendor's headers."""
    defines: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    linked: tuple[Library, ...] = ()
    """Others whose objects, compiled as they say, become part of this one."""


def find_compiler() -> Compiler:
    """$CC, cc, gcc or clang. Raises ShimError if there is none, or it does not run."""
    try:
        command = compiler_command()
    except CodegenError as error:
        raise ShimError(str(error)) from error
    try:
        done = subprocess.run(
            [*command, "--version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ShimError(f"{command[0]}: does not run ({error}); install gcc or clang, or set CC") from error
    if done.returncode != 0 or not done.stdout:
        raise ShimError(f"{command[0]}: --version fails; install gcc or clang, or set CC")
    return Compiler(tuple(command), done.stdout.splitlines()[0])


def compile_library(
    compiler: Compiler, library: Library, output: Path, root: Path, sanitize: str | None = None
) -> None:
    """Compile and link. Debug information names files relative to `root`, objects stay beside `output`.

    Raises ShimError with the compiler's first diagnostic.
    """
    common = [*COMPILE_FLAGS, f"-ffile-prefix-map={root}=.", *_sanitizer(sanitize)]
    units = [(part, source) for part in (library, *library.linked) for source in part.sources]
    objects = [output.parent / f"{number}-{source.name}.o" for number, (_, source) in enumerate(units)]

    def compile_one(unit: tuple[Library, Path], target: Path) -> None:
        part, source = unit
        _run([*compiler.command, *common, *_flags(part), "-c", str(source), "-o", str(target)], source)

    try:
        with ThreadPoolExecutor(max_workers=min(os.cpu_count() or 1, 8)) as pool:
            list(pool.map(compile_one, units, objects))
        link = [*LINK_FLAGS, *_sanitizer(sanitize)]
        if sanitize is None:  # a sanitizer's run-time library comes with the program
            link.append("-Wl,-z,defs")
        link += [f"-Wl,-soname,{library.soname}", f"-Wl,--version-script={library.version_script}"]
        _run([*compiler.command, *map(str, objects), *link, *library.libraries, "-o", str(output)], output)
    finally:
        for file in objects:
            file.unlink(missing_ok=True)


def _flags(library: Library) -> Sequence[str]:
    return (
        *(f"-D{name}" for name in library.defines),
        *(f"-I{folder}" for folder in library.includes),
        *(word for folder in library.system_includes for word in ("-isystem", str(folder))),
    )


def _sanitizer(name: str | None) -> Sequence[str]:
    if name is None:
        return ()
    if name not in SANITIZERS:
        raise ShimError(f"no sanitizer {name}; choose one of {', '.join(SANITIZERS)}")
    return (f"-fsanitize={name}",)


def _run(command: Sequence[str], subject: Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        match = _DIAGNOSTIC.search(done.stderr)
        first = (
            match[0].strip() if match else (done.stderr.strip().splitlines() or ["the compiler failed"])[0]
        )
        raise ShimError(f"{subject.name}: does not compile: {first}")
