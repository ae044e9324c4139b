"""Compile translation units into a folder of objects; an object is made again when any of its inputs changes."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_PATH = re.compile(r"(?:\\ |\S)+")


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
    """

    def __init__(self, folder: Path, compiler_version: str = "") -> None:
        self.folder = folder
        self._compiler_version = compiler_version
        self._digests: dict[Path, bytes] = {}

    def compile(self, unit: Unit) -> Path:
        """The object of a unit. Raises CompileError."""
        target = self.path(unit)
        listed, digest = target.with_suffix(".d"), target.with_suffix(".inputs")
        if target.is_file() and digest.is_file() and digest.read_text() == self._digest(unit, listed):
            return target
        target.parent.mkdir(parents=True, exist_ok=True)
        digest.unlink(missing_ok=True)  # an interrupted compiler leaves no object that counts
        run_compiler([*unit.command, "-MMD", "-MF", str(listed), "-o", str(target)])
        digest.write_text(self._digest(unit, listed))
        return target

    def path(self, unit: Unit) -> Path:
        """Units of equal flags share a folder, named after a digest of the flags."""
        flags = hashlib.sha256("\0".join(word for word in unit.command if word != str(unit.source)).encode())
        place = hashlib.sha256(str(unit.source).encode())
        return self.folder / flags.hexdigest()[:12] / f"{unit.source.name}-{place.hexdigest()[:8]}.o"

    def _digest(self, unit: Unit, listed: Path) -> str:
        digest = hashlib.sha256("\0".join([self._compiler_version, *unit.command]).encode())
        for path in [unit.source, *_prerequisites(listed)]:
            digest.update(self._content(path))
        return digest.hexdigest()

    def _content(self, path: Path) -> bytes:
        if path not in self._digests:
            try:
                self._digests[path] = hashlib.sha256(path.read_bytes()).digest()
            except OSError:
                return b"missing"
        return self._digests[path]


def _prerequisites(listed: Path) -> list[Path]:
    """The files on the right of a make rule; an empty list if the file does not exist."""
    try:
        _, _, files = listed.read_text().replace("\\\n", " ").partition(": ")
    except OSError:
        return []
    return [Path(word.replace("\\ ", " ")) for word in _PATH.findall(files)]


def run_compiler(command: Sequence[str]) -> None:
    """Raises CompileError."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CompileError(done.stderr.strip() or f"{command[0]} ended with {done.returncode}")
