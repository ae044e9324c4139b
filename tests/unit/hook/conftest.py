"""The shim's readers of code images, built as a test program."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
HOOK = HERE.parents[2] / "hook"
IMAGE = HOOK / "core" / "image"
COMPILE = (
    "cc",
    "-std=gnu11",
    "-D_GNU_SOURCE",
    "-g",
    "-O1",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover",
)


@pytest.fixture(scope="session")
def measure(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """programs/measure.c under AddressSanitizer and UndefinedBehaviorSanitizer."""
    program = tmp_path_factory.mktemp("measure") / "measure"
    sources = [HERE / "programs" / "measure.c", *sorted(IMAGE.glob("*.c"))]
    subprocess.run([*COMPILE, f"-I{HOOK}", *map(str, sources), "-o", str(program)], check=True)
    return program
