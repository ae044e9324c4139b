"""Helpers for tests of the engine."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchguard.toolchain.paths import ENGINE, ENGINES, SOURCE

Compiler = Callable[..., Path]

PROGRAMS = Path(__file__).parent / "programs"
READER_FLAGS = ("-D_GNU_SOURCE", f"-I{ENGINES}", f"-I{SOURCE / 'hook'}")


def reader_sources() -> list[Path]:
    """The engine's files that read a capture, which need no driver."""
    hash_sources = (SOURCE / "hook" / "core" / "image").glob("sha256*.c")
    return sorted([*(ENGINE / "capture").glob("*.c"), ENGINE / "base" / "error.c", *hash_sources])


@dataclass(frozen=True)
class Answer:
    """Output of read_capture: the status, the error line, and a summary of the capture."""

    status: int
    line: str
    content: str


@dataclass(frozen=True)
class Reader:
    program: Path

    def __call__(
        self,
        capture: Path,
        host_bytes: int = 1 << 30,
        device_bytes: int = 1 << 40,
        elements: int = 1 << 20,
        decoders: int = 2,
        how: str = "",
        environment: Mapping[str, str] | None = None,
        timeout: float = 20,
    ) -> Answer:
        command = [self.program, capture, *map(str, (host_bytes, device_bytes, elements, decoders)), how]
        result = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=timeout,
            env={**os.environ, **(environment or {})},
            check=False,
        )
        assert result.returncode == 0, result.stderr
        first, _, content = result.stdout.partition("\n")
        _, status, line = first.split(" ", 2)
        return Answer(int(status), line, content)


def compile_reader(compile_c: Compiler, name: str = "read_capture", flags: tuple[str, ...] = ()) -> Reader:
    sources = [PROGRAMS / "read_capture.c", *reader_sources()]
    return Reader(compile_c(name, *sources, flags=(*READER_FLAGS, *flags)))
