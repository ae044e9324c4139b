"""The arena hands out each device address once, the lowest that fits first, and finds the block at an address."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
HOOK = HERE.parents[2] / "hook"
MODEL = HERE / "programs" / "arena_model.py"
COLLECTIONS = [HOOK / "core" / "base" / name for name in ("ranges.c", "vector.c")]
BASE, GRANULE = 0x300000000000, 2 << 20


@pytest.fixture(scope="module", params=["plain", "address,undefined"])
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("arena") / "libarena.so"
    sources = [HERE / "programs" / "arena_library.c", *COLLECTIONS]
    flags = ["-std=gnu11", "-g", "-O1", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", f"-I{HOOK}"]
    if request.param != "plain":
        flags += [f"-fsanitize={request.param}", "-fno-sanitize-recover"]
    subprocess.run(["cc", *flags, *map(str, sources), "-pthread", "-o", str(path)], check=True)
    return path


def test_arena_answers_match_a_model(library: Path) -> None:
    """Random requests, answered by the arena and by a model of thirty lines of Python."""
    runtime = subprocess.run(
        ["cc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    if b"__asan_init" in library.read_bytes():
        environment["LD_PRELOAD"] = runtime
    result = subprocess.run(
        [sys.executable, str(MODEL), str(library)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=environment,
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_unconfigured_arena_is_empty(tmp_path: Path, library: Path) -> None:
    if b"__asan_init" in library.read_bytes():
        pytest.skip("the plain build says as much")
    copy = tmp_path / "libarena.so"  # another path: another copy in this process
    copy.write_bytes(library.read_bytes())
    arena = ctypes.CDLL(str(copy))
    arena.reserve.restype = arena.take.restype = ctypes.c_uint64
    assert arena.holds(ctypes.c_uint64(BASE)) == 0
    assert arena.reserve(ctypes.c_uint64(GRANULE), ctypes.c_uint64(0), ctypes.c_uint64(0)) == 0
    assert arena.take(ctypes.c_uint64(512)) == 0
    assert arena.set(ctypes.c_uint64(BASE), ctypes.c_uint64(4 * GRANULE)) == 1
    assert [arena.holds(ctypes.c_uint64(BASE + n)) for n in (-1, 0, 4 * GRANULE - 1, 4 * GRANULE)] == [
        0,
        1,
        1,
        0,
    ]
    assert arena.reserve(ctypes.c_uint64(5 * GRANULE), ctypes.c_uint64(0), ctypes.c_uint64(0)) == 0
    assert arena.reserve(ctypes.c_uint64(2**64 - 1), ctypes.c_uint64(0), ctypes.c_uint64(0)) == 0


@pytest.mark.parametrize("sanitizer", ["thread", "address,undefined"])
def test_threads_get_disjoint_space(tmp_path: Path, sanitizer: str) -> None:
    """Four threads. At the end all space is free except for the one empty granule that the arena keeps."""
    program = tmp_path / "threads"
    sources = [HERE / "programs" / "arena_threads.c", HOOK / "core" / "arena" / "arena.c", *COLLECTIONS]
    flags = ["-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", f"-fsanitize={sanitizer}", f"-I{HOOK}"]
    subprocess.run(["cc", *flags, *map(str, sources), "-pthread", "-o", str(program)], check=True)
    environment = {"ASAN_OPTIONS": "detect_leaks=0"}  # what the arena keeps, it keeps for the process's life
    result = subprocess.run(
        [program], capture_output=True, text=True, timeout=120, check=False, env=environment
    )
    assert (result.returncode, result.stdout) == (0, "twice 0 missing 1\n"), result.stderr
