"""The names that the preloaded dlopen redirects, by vendor and caller."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

OPEN = """
import ctypes, sys
for name in sys.argv[1:]:
    try:
        print(ctypes.CDLL(name).whose())
    except OSError:
        print("none")
"""
CUDA_SHIM, CUDA_DRIVER, HIP_SHIM, HIP_DRIVER, OTHER = range(1, 6)

Open = Callable[..., list[str]]


@pytest.fixture
def libraries(compile_c: Callable[..., Path], tmp_path: Path) -> Mapping[int, Path]:
    """Libraries that print their own name."""
    source = tmp_path / "whose.c"
    source.write_text(
        'int whose(void) __attribute__((visibility("default")));\nint whose(void) { return WHOSE; }\n'
    )
    return {
        whose: compile_c(f"whose/lib{whose}.so", source, flags=(f"-DWHOSE={whose}",))
        for whose in range(CUDA_SHIM, OTHER + 1)
    }


@pytest.fixture
def open_(libraries: Mapping[int, Path], native: Path) -> Open:
    paths = {whose: str(path) for whose, path in libraries.items()}
    variables = {
        "NEUTRINO_SHIM": paths[CUDA_SHIM],
        "NEUTRINO_DRIVER": paths[CUDA_DRIVER],
        "NEUTRINO_HIP_SHIM": paths[HIP_SHIM],
        "NEUTRINO_HIP_DRIVER": paths[HIP_DRIVER],
    }

    def run(*names: str | Path, without: str = "", callers: str = "") -> list[str]:
        environment = {name: value for name, value in variables.items() if not (without and without in name)}
        preload = native / "preload" / "libneutrino_preload.so"
        result = subprocess.run(
            [sys.executable, "-c", OPEN, *map(str, names)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, **environment, "LD_PRELOAD": str(preload), "NEUTRINO_FILTER": callers},
        )
        return result.stdout.split()

    return run


HIP_NAMES = ("libamdhip64.so", "libamdhip64.so.5", "libamdhip64.so.7", "libamdhip64.so.5.2.21153")


def test_library_of_each_vendor_is_redirected_to_its_shim(open_: Open) -> None:
    assert open_("libcuda.so.1", *HIP_NAMES) == [str(CUDA_SHIM), *[str(HIP_SHIM)] * len(HIP_NAMES)]


def test_path_is_redirected_if_the_file_exists(
    open_: Open, libraries: Mapping[int, Path], tmp_path: Path
) -> None:
    there = tmp_path / "libamdhip64.so.6"
    there.symlink_to(libraries[OTHER])
    assert open_(there, tmp_path / "libamdhip64.so.5") == [str(HIP_SHIM), "none"]


def test_similar_names_are_not_redirected(open_: Open, libraries: Mapping[int, Path], tmp_path: Path) -> None:
    names = [tmp_path / name for name in ("libamdhip64.so.backup", "libamdhip64x.so.5", "myamdhip64.so")]
    for name in names:
        name.symlink_to(libraries[OTHER])
    assert open_(*names) == [str(OTHER)] * 3


def test_filtered_callers_get_the_vendors_real_driver(open_: Open) -> None:
    """ctypes calls dlopen from the interpreter's _ctypes."""
    assert open_("libcuda.so.1", "libamdhip64.so.6", callers="_ctypes") == [str(CUDA_DRIVER), str(HIP_DRIVER)]


def test_library_of_the_other_vendor_is_not_redirected(
    open_: Open, libraries: Mapping[int, Path], tmp_path: Path
) -> None:
    """A run observes one vendor; the variables of the other vendor are not set."""
    there = tmp_path / "libamdhip64.so.6"
    there.symlink_to(libraries[OTHER])
    assert open_(there, "libcuda.so.1", without="HIP") == [str(OTHER), str(CUDA_SHIM)]
