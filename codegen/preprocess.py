"""Run the C preprocessor over the headers, against our own tiny system headers.

`-undef` and `-nostdinc` keep this host out of the result; `__LP64__` must then be given by hand, or
CUdeviceptr would have 32 bits.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from .errors import CodegenError
from .vendor import INTERNAL

_FAKE_INCLUDE = Path(__file__).resolve().parent / "fake_include"
_OPTIONS = ["-E", "-x", "c", "-nostdinc", "-undef", "-D__LP64__=1", "-D__x86_64__=1", "-D__attribute__(x)="]
__all__ = ["INTERNAL", "compiler_command", "preprocess"]


def compiler_command() -> list[str]:
    """The C compiler of this machine: $CC, cc, gcc or clang. Raises CodegenError if none is found."""
    command = os.environ.get("CC", "")
    if command.strip():
        words = shlex.split(command)
        if shutil.which(words[0]) is None:
            raise CodegenError(f"CC={command}: no such program; unset CC or name a C compiler")
        return words
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return [name]
    raise CodegenError("no C compiler found: install gcc or clang, or set CC")


def preprocess(folder: Path, source: str, defines: Sequence[str] = ()) -> str:
    """`source` preprocessed with `folder` on the include path, line markers kept."""
    command = [*compiler_command(), *_OPTIONS, "-I", str(_FAKE_INCLUDE), "-I", str(folder)]
    command += [f"-D{name}" for name in defines]
    done = subprocess.run([*command, "-"], input=source, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
        raise CodegenError(f"{folder}: cannot be preprocessed: {lines[0] if lines else 'compiler failed'}")
    return done.stdout
