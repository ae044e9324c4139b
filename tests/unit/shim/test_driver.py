"""Which driver is found, by the loader's rules, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchguard.shim import driver
from benchguard.shim.build import shim_for
from benchguard.shim.driver import cached_libraries, discover
from benchguard.shim.errors import ShimError


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No driver in the loader's cache or the usual folders, whatever this machine has."""
    monkeypatch.setattr(driver, "_loader_cache", lambda: "")
    monkeypatch.setattr(driver, "_DEFAULT_FOLDERS", (str(tmp_path / "usual"),))


def test_library_path_comes_first_and_links_are_followed(driver_file: Path, tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "libcuda.so.1").symlink_to(driver_file)
    found = discover("auto", {"LD_LIBRARY_PATH": f"{tmp_path / 'empty'}:{tmp_path / 'first'}"})
    assert (found.path, found.origin, found.soname) == (
        driver_file.resolve(),
        "LD_LIBRARY_PATH",
        "libcuda.so.1",
    )


def test_then_the_loaders_cache_then_the_usual_folders(
    driver_file: Path, monkeypatch: pytest.MonkeyPatch, make_library: Callable[..., Path]
) -> None:
    usual = make_library("usual/libcuda.so.1", "cuInit")
    assert discover("auto", {}).path == usual
    monkeypatch.setattr(driver, "_loader_cache", lambda: f"\tlibcuda.so.1 (libc6,x86-64) => {driver_file}\n")
    assert discover("auto", {}).origin == "ld.so.cache"


def test_the_loaders_cache_is_read_in_its_order() -> None:
    """As ldconfig -p prints it; libraries for other machines and other names are left out."""
    listing = """1530 libs found in cache `/etc/ld.so.cache'
\tlibcudart.so.13 (libc6,x86-64) => /usr/local/cuda-13.0/lib/libcudart.so.13
\tlibcuda.so.1 (libc6,x86-64) => /usr/local/cuda/compat/libcuda.so.1
\tlibcuda.so.1 (libc6,x86-64, OS ABI: Linux 3.2.0) => /lib/x86_64-linux-gnu/libcuda.so.1
\tlibcuda.so.1 (libc6) => /lib/i386-linux-gnu/libcuda.so.1
\tlibcuda.so (libc6,x86-64) => /lib/x86_64-linux-gnu/libcuda.so
"""
    assert cached_libraries(listing) == [
        Path("/usr/local/cuda/compat/libcuda.so.1"),
        Path("/lib/x86_64-linux-gnu/libcuda.so.1"),
    ]


def test_what_does_not_fit_is_passed_over(driver_file: Path, tmp_path: Path) -> None:
    """A text file of that name, as for any library the loader cannot use."""
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "libcuda.so.1").write_text("moved\n")
    folders = f"{tmp_path / 'text'}:{driver_file.parent}"
    assert discover("auto", {"LD_LIBRARY_PATH": folders}).path == driver_file.resolve()


def test_without_a_driver_the_packaged_one_is_used(
    monkeypatch: pytest.MonkeyPatch, driver_file: Path
) -> None:
    monkeypatch.setattr(driver, "SIM", driver_file)
    found = discover("auto", {})
    assert (found.origin, found.is_sim) == ("CPU driver (no GPU driver found)", True)
    assert discover("sim").origin == "CPU driver (asked for)"


def test_an_unbuilt_cpu_driver_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(driver, "SIM", tmp_path / "nothing")
    with pytest.raises(ShimError, match=r"the CPU driver is not built; run `python build\.py build`"):
        discover("sim")


def test_what_is_no_driver_is_refused_by_name(make_library: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(ShimError, match="exports no cuInit"):
        discover(str(make_library("other.so", "hipInit")))
    with pytest.raises(ShimError, match="No such file or directory"):
        discover(str(tmp_path / "nothing"))
    with pytest.raises(ShimError, match="Is a directory"):
        discover(str(tmp_path))


def test_a_shim_is_never_taken_for_the_driver(driver_file: Path, cache: dict[str, str]) -> None:
    """A shim before a shim would call itself for ever: named, it is refused; found, it is passed over."""
    shim = shim_for(discover(str(driver_file)), environment=cache)
    with pytest.raises(ShimError, match="is a shim of ours"):
        discover(str(shim.path))
    folders = f"{shim.path.parent}:{driver_file.parent}"
    assert discover("auto", {"LD_LIBRARY_PATH": folders}).path == driver_file.resolve()
