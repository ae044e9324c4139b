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
OPEN_IN_NAMESPACE = """
import ctypes, sys
libc = ctypes.CDLL(None)
libc.dlmopen.restype = libc.dlsym.restype = ctypes.c_void_p
handle = libc.dlmopen(ctypes.c_long(-1), sys.argv[1].encode(), 2)
print(ctypes.CFUNCTYPE(ctypes.c_int)(libc.dlsym(ctypes.c_void_p(handle), b"whose"))())
"""
FAIL = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.dlopen.restype, libc.dlerror.restype = ctypes.c_void_p, ctypes.c_char_p
for name in sys.argv[1:]:
    ctypes.set_errno(77)
    print(libc.dlopen(name.encode(), 2), ctypes.get_errno(), libc.dlerror().decode())
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

    def run(
        *names: str | Path, without: str = "", callers: str = "", program: str = OPEN, folder: str = ""
    ) -> list[str]:
        environment = {name: value for name, value in variables.items() if not (without and without in name)}
        preload = native / "preload" / "libneutrino_preload.so"
        result = subprocess.run(
            [sys.executable, "-c", program, *map(str, names)],
            capture_output=True,
            text=True,
            check=True,
            env={
                **os.environ,
                **environment,
                "LD_PRELOAD": str(preload),
                "NEUTRINO_FILTER": callers,
                "LD_LIBRARY_PATH": folder,
            },
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


def links_to(library: Path, folder: Path) -> list[Path]:
    """A symbolic link, a link to it, a hard link, and a path that the program's folder of descriptors gives."""
    names = [folder / name for name in ("symbolic.so", "again.so", "hard.so")]
    names[0].symlink_to(library)
    names[1].symlink_to(names[0].name)
    names[2].hardlink_to(library)
    return [*names, Path("/proc/self/root", *library.parts[1:])]


def test_links_to_a_driver_are_redirected_to_its_shim(
    open_: Open, libraries: Mapping[int, Path], tmp_path: Path
) -> None:
    """Also the driver's own path, here without a driver's name."""
    for driver, shim in ((CUDA_DRIVER, CUDA_SHIM), (HIP_DRIVER, HIP_SHIM)):
        folder = tmp_path / str(driver)
        folder.mkdir()
        links = links_to(libraries[driver], folder)
        assert open_(libraries[driver], *links) == [str(shim)] * (1 + len(links))


def test_link_to_a_driver_in_a_namespace_is_redirected(
    open_: Open, libraries: Mapping[int, Path], tmp_path: Path
) -> None:
    link = links_to(libraries[CUDA_DRIVER], tmp_path)[0]
    assert open_(link, program=OPEN_IN_NAMESPACE) == [str(CUDA_SHIM)]


def test_links_to_another_library_or_to_a_copy_are_not_redirected(
    open_: Open, libraries: Mapping[int, Path], tmp_path: Path
) -> None:
    copy = tmp_path / "copy.so"
    copy.write_bytes(libraries[CUDA_DRIVER].read_bytes())
    assert open_(*links_to(libraries[OTHER], tmp_path), copy) == [*[str(OTHER)] * 4, str(CUDA_DRIVER)]


def test_links_are_not_redirected_without_a_shim_or_for_filtered_callers(
    open_: Open, libraries: Mapping[int, Path], tmp_path: Path
) -> None:
    links = links_to(libraries[CUDA_DRIVER], tmp_path)
    assert open_(*links, callers="_ctypes") == [str(CUDA_DRIVER)] * len(links)
    assert open_(*links, without="NEUTRINO_") == [str(CUDA_DRIVER)] * len(links)


def test_name_without_a_slash_is_searched_as_before(
    open_: Open, libraries: Mapping[int, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loader does not look in the working folder, where this name leads to the driver."""
    here, searched = tmp_path / "here", tmp_path / "searched"
    for folder, library in ((here, CUDA_DRIVER), (searched, OTHER)):
        folder.mkdir()
        (folder / "name.so").symlink_to(libraries[library])
    monkeypatch.chdir(here)
    assert open_("name.so", folder=str(searched)) == [str(OTHER)]
    assert open_("name.so") == ["none"]
    assert open_("./name.so") == [str(CUDA_SHIM)]


def test_open_that_fails_leaves_errno_and_message_unchanged(open_: Open, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    paths = [str(tmp_path / name) for name in ("missing.so", "loop", "x" * 300)]
    assert open_(*paths, program=FAIL) == open_(*paths, program=FAIL, without="NEUTRINO_")
