"""The shim's readers of code images, as a program of their own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CORE = HERE.parents[2] / "hook" / "core"
READERS = (
    "bundle.c",
    "code_object.c",
    "code_object_globals.c",
    "compressed_bundle.c",
    "elf_view.c",
    "image.c",
    "image_globals.c",
    "layout.c",
    "msgpack.c",
    "ptx_globals.c",
    "ptx_layout.c",
    "ptx_text.c",
    "unpack.c",
)
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
    sources = [HERE / "programs" / "measure.c", *(CORE / part for part in READERS)]
    subprocess.run([*COMPILE, f"-I{CORE}", *map(str, sources), "-o", str(program)], check=True)
    return program
