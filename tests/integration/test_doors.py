"""However a program gets at the driver, its launches land in the shim."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.apis import both_apis
from tests.integration.support import PROGRAMS, Compiler, Observe, Observed

SCALE = ("scale", (4, 1, 1), (256, 1, 1))


def check(observed: Observed) -> None:
    assert observed.status == 0, observed.stdout + observed.stderr
    assert "right" in observed.stdout
    assert observed.launches == observed.driver_launches == {SCALE: 3}


@pytest.mark.quick
@both_apis
def test_linked_driver_is_interposed(observe: Observe, program: Callable[[str], Path]) -> None:
    """libcuda.so.1 is a NEEDED library, found through a RUNPATH to the real driver."""
    check(observe([program("linked")]))


@pytest.mark.quick
@pytest.mark.parametrize("how", ["soname", "deepbind", "namespace"])
def test_opened_driver_is_interposed(observe: Observe, compile_c: Compiler, how: str) -> None:
    """dlopen by soname, with RTLD_DEEPBIND, and dlmopen into a namespace of its own."""
    check(observe([compile_c("opened", PROGRAMS / "opened.c"), how]))


def test_driver_opened_by_development_name_is_interposed(observe: Observe, compile_c: Compiler) -> None:
    """The shim's soname is libcuda.so.1, so only the dlopen hook catches `libcuda.so`."""
    check(observe([compile_c("opened", PROGRAMS / "opened.c"), "libcuda.so"]))


@pytest.mark.parametrize("name", ["libcuda.so.1", "libcuda.so", "libcuda.so.580.159.04"])
def test_driver_opened_by_path_is_interposed(
    observe: Observe, compile_c: Compiler, native: Path, tmp_path: Path, name: str
) -> None:
    """An absolute path to the real driver, under each name that installers give it."""
    path = tmp_path / name
    path.symlink_to(native / "sim" / "libcuda.so.1")
    check(observe([compile_c("opened", PROGRAMS / "opened.c"), path]))


@pytest.mark.quick
@pytest.mark.parametrize("way", [os.symlink, os.link, None], ids=["symbolic", "hard", "descriptor"])
def test_driver_opened_by_link_is_interposed(
    observe: Observe,
    compile_c: Compiler,
    native: Path,
    tmp_path: Path,
    way: Callable[[Path, Path], None] | None,
) -> None:
    """A path with another name that leads to the driver's file: a link, or the program's own descriptor."""
    driver, link = tmp_path / "driver" / "libcuda.so.1", tmp_path / "libother.so"
    shutil.copytree(native / "sim", driver.parent)  # a hard link needs the same file system
    words = ["descriptor", driver]
    if way is not None:
        way(driver, link)
        words = [link]
    check(observe([compile_c("opened", PROGRAMS / "opened.c"), *words], driver=str(driver)))


@pytest.mark.full
def test_hip_library_opened_by_link_is_interposed(
    observe: Observe, compile_c: Compiler, native: Path, tmp_path: Path
) -> None:
    library, link = native / "hip" / "libamdhip64.so.5", tmp_path / "libother.so"
    if not library.is_file():
        pytest.skip(f"{library} is not built: no hip_runtime_api.h")
    link.symlink_to(library)
    observed = observe([compile_c("hip_opened", PROGRAMS / "hip_opened.c"), link], driver="hip-sim")
    assert observed.status == 0, observed.stderr
    assert [line["call"] for line in observed.of_kind("call")] == ["hipGetDeviceCount"]


def test_open_of_a_missing_path_still_fails(observe: Observe, compile_c: Compiler, tmp_path: Path) -> None:
    """Programs try several paths and rely on the wrong ones failing."""
    observed = observe([compile_c("opened", PROGRAMS / "opened.c"), tmp_path / "libcuda.so.1"])
    assert observed.status == 1
    assert "cannot open shared object file" in observed.stderr
    assert not observed.launches


@pytest.mark.quick
def test_functions_looked_up_by_name_are_interposed(observe: Observe, compile_c: Compiler) -> None:
    """Every function from cuGetProcAddress_v2, as CUDA runtimes do."""
    check(observe([compile_c("opened", PROGRAMS / "opened.c"), "by-name", "soname"]))


def test_library_with_origin_runpath_finds_its_neighbour(observe: Observe, compile_c: Compiler) -> None:
    """The library's own $ORIGIN still finds its neighbour: the hook keeps the caller's address."""
    compile_c("plugins/libneighbour.so", PROGRAMS / "neighbour.c")
    plugin = compile_c("plugins/libplugin.so", PROGRAMS / "plugin.c", links=("-Wl,-rpath,$ORIGIN",))
    check(observe([compile_c("plugin_host", PROGRAMS / "plugin_host.c"), plugin]))


def test_filtered_caller_that_opens_a_link_gets_the_real_driver(
    observe: Observe, compile_c: Compiler, native: Path, tmp_path: Path
) -> None:
    link = tmp_path / "libother.so"
    link.symlink_to(native / "sim" / "libcuda.so.1")
    observed = observe([compile_c("opened", PROGRAMS / "opened.c"), link], "--filter", "opened")
    assert observed.status == 0, observed.stderr
    assert not observed.launches
    assert observed.driver_launches == {SCALE: 3}


@pytest.mark.quick
def test_filtered_caller_gets_the_real_driver(observe: Observe, compile_c: Compiler) -> None:
    """A library that --filter names runs as before and leaves no launch in the log."""
    compile_c("plugins/libneighbour.so", PROGRAMS / "neighbour.c")
    plugin = compile_c("plugins/libplugin.so", PROGRAMS / "plugin.c", links=("-Wl,-rpath,$ORIGIN",))
    observed = observe(
        [compile_c("plugin_host", PROGRAMS / "plugin_host.c"), plugin], "--filter", "libplugin"
    )
    assert observed.status == 0, observed.stderr
    assert not observed.launches
    assert observed.driver_launches == {SCALE: 3}
