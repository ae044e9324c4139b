"""Results of HIP's hooks, and how they read descriptions of copies, without a driver."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from benchguard.codegen.errors import CodegenError
from benchguard.codegen.hip import find_hip_headers

PROGRAMS = Path(__file__).parent / "programs"
HOOK = Path(__file__).parents[3] / "hook"
INVALID_VALUE, OUT_OF_MEMORY, NOT_SUPPORTED = 1, 2, 801
UNIFIED, ARRAY = 4, 3

Run = Callable[..., list[str]]


@pytest.fixture
def hip_flags() -> tuple[str, ...]:
    try:
        headers = find_hip_headers()
    except CodegenError as error:
        pytest.skip(str(error))
    includes = (HOOK,)
    return (
        "-D__HIP_PLATFORM_AMD__",
        *(f"-I{folder}" for folder in includes),
        *("-isystem", str(headers.folder)),
        "-fsanitize=address,undefined",
    )


def runner(program: Path) -> Run:
    def run(*words: object) -> list[str]:
        command = [str(program), *map(str, words)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
        return result.stdout.splitlines()

    return run


@pytest.fixture
def answer(compile_c: Callable[..., Path], hip_flags: tuple[str, ...]) -> Run:
    folder = PROGRAMS / "hip_answer"
    sources = folder / "answer_steps.c", HOOK / "hip" / "hooks" / "answer.c"
    return runner(compile_c("hip_answer", *sources, flags=(f"-I{folder}", *hip_flags)))


@pytest.fixture
def shape(compile_c: Callable[..., Path], hip_flags: tuple[str, ...]) -> Run:
    sources = PROGRAMS / "hip_shapes.c", HOOK / "hip" / "driver" / "shapes.c"
    return runner(compile_c("hip_shapes", *sources, flags=("-DNB_HIP_BRIDGE", *hip_flags)))


@pytest.mark.parametrize("last", [0, INVALID_VALUE, OUT_OF_MEMORY, NOT_SUPPORTED])
@pytest.mark.parametrize("result", [0, INVALID_VALUE, OUT_OF_MEMORY])
def test_last_error_is_the_returned_one(answer: Run, last: int, result: int) -> None:
    assert answer(last, result) == [f"{result} {result}"]


def test_driver_error_remains_the_last(answer: Run) -> None:
    assert answer(NOT_SUPPORTED, NOT_SUPPORTED) == [f"{NOT_SUPPORTED} {NOT_SUPPORTED}"]
    assert answer(0, NOT_SUPPORTED) == [f"{NOT_SUPPORTED} 0"]


@pytest.mark.parametrize(
    ("version", "host", "device", "array"), [(502, 0, 1, 2), (600, 1, 2, 10), (702, 1, 2, 10)]
)
def test_plane_copies_use_the_memory_types_of_the_library(
    shape: Run, version: int, host: int, device: int, array: int
) -> None:
    """Address (which of the two counts), pitch, height, x, y, z."""
    assert shape(version, "plane", host, device) == [
        f"to {UNIFIED} 9 10 0 6 7 0",
        f"from {UNIFIED} 3 5 0 1 2 0",
        "extent 11 12",
    ]
    to, source, _ = shape(version, "plane", device, host)
    assert (to, source) == (f"to {UNIFIED} 8 10 0 6 7 0", f"from {UNIFIED} 4 5 0 1 2 0")
    assert shape(version, "plane", array, device)[1].startswith(f"from {ARRAY} ")
    assert shape(version, "plane", device, array)[0].startswith(f"to {ARRAY} ")


def test_row_and_byte_copies_use_unified_memory(shape: Run) -> None:
    assert shape(502, "rows") == [f"to {UNIFIED} 1 2 0 0 0 0", f"from {UNIFIED} 3 4 0 0 0 0", "extent 5 6"]
    assert shape(502, "bytes") == [f"to {UNIFIED} 1 3 1 0 0 0", f"from {UNIFIED} 2 3 1 0 0 0", "extent 3 1 1"]


def test_driver_volume_layout_matches_its_header(shape: Run) -> None:
    if find_hip_headers().version >= 60_000_000:
        pytest.skip("the header is 6.0's or newer; Debian's is 5.2's")
    assert shape(502, "volume") == [
        f"to {UNIFIED} 10 11 12 7 8 9",
        f"from {UNIFIED} 4 5 6 1 2 3",
        "extent 13 14 15",
    ]
    assert shape(600, "volume") == ["unknown"]
