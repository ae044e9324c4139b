"""Compile translation units into a folder of objects; an object is made again when any of its inputs changes."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import signal
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

WORKERS = min(len(os.sched_getaffinity(0)), 8)
_PATH = re.compile(r"(?:\\ |\S)+")
_running: set[subprocess.Popen[str]] = set()


@dataclass(frozen=True)
class Unit:
    """One source, and the command that compiles it but for the names of its outputs."""

    source: Path
    command: tuple[str, ...]


class CompileError(Exception):
    """The compiler refused a source; the text is all that the compiler wrote."""


class Objects:
    """A folder of objects. Threads may compile different units at the same time.

    Beside each object lie the list of the files it was made from (`-MMD`) and a digest of their contents.
    Contents are compared rather than times, so that a checkout or a generator may rewrite a file with the same text.
    Assembler sources are always made again: `-MMD` does not list the files that they embed (.incbin).
    """

    def __init__(self, folder: Path, compiler_version: str = "") -> None:
        self.folder = folder
        self._compiler_version = compiler_version
        self._digests: dict[Path, bytes] = {}

    def compile(self, unit: Unit) -> Path:
        """The object of a unit. Raises CompileError."""
        target = self.path(unit)
        dependencies, digest = target.with_suffix(".d"), target.with_suffix(".inputs")
        is_current = digest.is_file() and digest.read_text() == self._digest(unit, dependencies)
        if target.is_file() and is_current and unit.source.suffix != ".S":
            return target
        target.parent.mkdir(parents=True, exist_ok=True)
        digest.unlink(missing_ok=True)  # an interrupted compiler leaves no object that counts
        run_compiler([*unit.command, "-MMD", "-MF", str(dependencies), "-o", str(target)])
        digest.write_text(self._digest(unit, dependencies))
        return target

    def path(self, unit: Unit) -> Path:
        """Units of equal flags share a folder, named after a digest of the flags."""
        flags = hashlib.sha256("\0".join(word for word in unit.command if word != str(unit.source)).encode())
        place = hashlib.sha256(str(unit.source).encode())
        return self.folder / flags.hexdigest()[:12] / f"{unit.source.name}-{place.hexdigest()[:8]}.o"

    def _digest(self, unit: Unit, dependencies: Path) -> str:
        digest = hashlib.sha256("\0".join([self._compiler_version, *unit.command]).encode())
        for path in [unit.source, *_prerequisites(dependencies)]:
            digest.update(self._content(path))
        return digest.hexdigest()

    def _content(self, path: Path) -> bytes:
        if path not in self._digests:
            try:
                self._digests[path] = hashlib.sha256(path.read_bytes()).digest()
            except OSError:
                return b"missing"
        return self._digests[path]


def _prerequisites(dependencies: Path) -> list[Path]:
    """The files on the right of a make rule; an empty list if the file does not exist."""
    try:
        _, _, files = dependencies.read_text().replace("\\\n", " ").partition(": ")
    except OSError:
        return []
    return [Path(word.replace("\\ ", " ")) for word in _PATH.findall(files)]


def run_compiler(command: Sequence[str]) -> None:
    """Raises CompileError."""
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as compiler:
        _running.add(compiler)
        try:
            _, output = compiler.communicate()
        except BaseException:
            _end(compiler)
            raise
        finally:
            _running.discard(compiler)
    if compiler.returncode != 0:
        raise CompileError(output.strip() or f"{command[0]} ended with {compiler.returncode}")


@contextlib.contextmanager
def compiler_pool() -> Iterator[Executor]:
    """Threads that run compilers. If the block raises, no further unit starts, and the running compilers are ended."""
    with ThreadPoolExecutor(WORKERS) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for compiler in list(_running):
                _end(compiler)
            raise


def _end(compiler: subprocess.Popen[str]) -> None:
    """SIGTERM lets gcc remove its temporary files; its session holds the programs that it started, such as cc1."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(compiler.pid, signal.SIGTERM)
