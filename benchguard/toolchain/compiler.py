"""Run the machine's C compiler."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path

from benchguard.codegen.errors import CodegenError
from benchguard.codegen.preprocess import compiler_command

from .errors import ShimError
from .objects import CompileError, Objects, Unit, compiler_pool, run_compiler

COMPILE_FLAGS = (
    "-std=gnu11", "-O2", "-g1", "-fPIC", "-fvisibility=hidden", "-fno-omit-frame-pointer", "-D_GNU_SOURCE",
    "-ffp-contract=off",
    "-falign-functions=64",  # else the speed of the CPU driver's loops changes with the linker's order
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
    """Sources of one shared library, and how to compile and link them."""

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
    """$CC, cc, gcc or clang. Raises ShimError if no compiler is found, or it does not run."""
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
    """Compile and link. Debug information names files relative to `root`.

    Raises ShimError with the compiler's first diagnostic; its `output` holds the rest.
    """
    with tempfile.TemporaryDirectory(prefix=".objects-", dir=output.parent) as folder:
        objects = Objects(Path(folder))
        with compiler_pool() as pool:
            compiling = start_compiling(pool, objects, units_of(compiler, library, root, sanitize))
            link_library(compiler, library, compiling, output, sanitize)


def units_of(compiler: Compiler, library: Library, root: Path, sanitize: str | None = None) -> list[Unit]:
    """The sources of a library and of those linked into it, with their commands. Raises ShimError."""
    common = (*compiler.command, *COMPILE_FLAGS, f"-ffile-prefix-map={root}=.", *_sanitizer(sanitize))
    return [
        Unit(source, (*common, *_flags(part), "-c", str(source)))
        for part in (library, *library.linked)
        for source in part.sources
    ]


def start_compiling(pool: Executor, objects: Objects, units: Iterable[Unit]) -> list[Future[Path]]:
    return [pool.submit(objects.compile, unit) for unit in units]


def link_library(
    compiler: Compiler,
    library: Library,
    compiling: Sequence[Future[Path]],
    output: Path,
    sanitize: str | None = None,
) -> None:
    """Wait for the objects, then link them. Raises ShimError that names every source that does not compile."""
    errors = [error for job in compiling if (error := job.exception())]
    if errors:
        raise _failure(library, errors)
    link = [*LINK_FLAGS, *_sanitizer(sanitize)]
    if sanitize is None:  # a sanitizer's run-time library comes with the program
        link.append("-Wl,-z,defs")
    link += [f"-Wl,-soname,{library.soname}", f"-Wl,--version-script={library.version_script}"]
    files = [str(job.result()) for job in compiling]
    try:
        run_compiler([*compiler.command, *files, *link, *library.libraries, "-o", str(output)])
    except CompileError as error:
        raise _failure(library, [error]) from error


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
    # gcc's analysis takes the sanitizers' own checks for cases that occur: "strncmp reads from a region of size 0".
    return (f"-fsanitize={name}", "-Wno-stringop-overread")


def _failure(library: Library, errors: Sequence[BaseException]) -> ShimError:
    for error in errors:
        if not isinstance(error, CompileError):
            raise error
    output = "\n".join(dict.fromkeys(str(error) for error in errors))
    match = _DIAGNOSTIC.search(output)
    first = match[0].strip() if match else output.partition("\n")[0]
    return ShimError(f"{library.soname}: does not compile: {first}", output)
