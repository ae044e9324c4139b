"""What the tests of the engine share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchguard.shim.paths import ENGINE, SOURCE

Compiler = Callable[..., Path]

PROGRAMS = Path(__file__).parent / "programs"
READER_FLAGS = ("-D_GNU_SOURCE", f"-I{ENGINE}", f"-I{SOURCE / 'hook' / 'core'}")


def reader_sources() -> list[Path]:
    """The engine's files that read a capture, which need no driver."""
    names = ("decode*.c", "error.c", "reader*.c", "sandbox.c", "sha256*.c")
    return sorted(path for name in names for path in ENGINE.glob(name))
