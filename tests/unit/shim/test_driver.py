"""Which driver is found, by the loader's rules, and what is refused."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from benchguard.codegen.errors import CodegenError
from benchguard.codegen.exports import DriverExports
from benchguard.codegen.hip import HipHeaders
from benchguard.errors import UsageError
from benchguard.shim import driver, remembered, tools, vendors
from benchguard.shim.build import shim_for
from benchguard.shim.driver import cached_libraries, discover, find_obstacle
from benchguard.shim.vendors import CUDA, HIP
from benchguard.toolchain.errors import ShimError

LOADER_CACHE = driver._loader_cache
"""As it is before a test replaces it."""


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No driver in the loader's cache or the usual folders, whatever this machine has."""
    monkeypatch.setattr(driver, "_loader_cache", lambda _: "")
    monkeypatch.setattr(vendors, "_SYSTEM_FOLDERS", (str(tmp_path / "usual"),))
    monkeypatch.setattr(vendors, "_CUDA_FOLDERS", ())
    monkeypatch.setattr(vendors, "_ROCM", tmp_path / "opt")
    monkeypatch.setattr(driver, "HIP", replace(HIP, device_nodes=("/nonexistent/kfd",)))
    monkeypatch.setattr(driver, "VENDORS", (CUDA, driver.HIP))


@pytest.fixture
def amd_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with an AMD GPU and HIP 5's headers."""
    monkeypatch.setattr(driver, "HIP", replace(HIP, device_nodes=("/dev/null",)))
    monkeypatch.setattr(driver, "VENDORS", (CUDA, driver.HIP))
    monkeypatch.setattr(tools, "find_hip_headers", lambda _: HipHeaders(Path("/x"), 50221153, "a test"))


@pytest.fixture
def no_hip_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> HipHeaders:
        raise CodegenError("no hip/hip_runtime_api.h found: install it")

    monkeypatch.setattr(tools, "find_hip_headers", fail)


def test_library_path_comes_first_and_links_are_followed(driver_file: Path, tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "libcuda.so.1").symlink_to(driver_file)
    result = discover("auto", {"LD_LIBRARY_PATH": f"{tmp_path / 'empty'}:{tmp_path / 'first'}"})
    assert (result.path, result.origin, result.soname) == (
        driver_file.resolve(),
        "LD_LIBRARY_PATH",
        "libcuda.so.1",
    )


def test_then_the_loaders_cache_then_the_usual_folders(
    driver_file: Path, monkeypatch: pytest.MonkeyPatch, make_library: Callable[..., Path]
) -> None:
    usual = make_library("usual/libcuda.so.1", "cuInit")
    assert discover("auto", {}).path == usual
    monkeypatch.setattr(
        driver, "_loader_cache", lambda _: f"\tlibcuda.so.1 (libc6,x86-64) => {driver_file}\n"
    )
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
    assert cached_libraries(listing, "libcuda.so.1") == [
        Path("/usr/local/cuda/compat/libcuda.so.1"),
        Path("/lib/x86_64-linux-gnu/libcuda.so.1"),
    ]


def test_unsuitable_library_is_skipped(driver_file: Path, tmp_path: Path) -> None:
    """A text file of that name, as for any library the loader cannot use."""
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "libcuda.so.1").write_text("moved\n")
    folders = f"{tmp_path / 'text'}:{driver_file.parent}"
    assert discover("auto", {"LD_LIBRARY_PATH": folders}).path == driver_file.resolve()


def test_without_a_driver_the_packaged_one_is_used(
    monkeypatch: pytest.MonkeyPatch, driver_file: Path
) -> None:
    monkeypatch.setattr(driver, "VENDORS", (replace(CUDA, sim=driver_file), HIP))
    result = discover("auto", {})
    assert (result.origin, result.is_sim) == ("CPU driver (no GPU driver found)", True)
    assert discover("sim").origin == "CPU driver (asked for)"


def test_unbuilt_cpu_driver_raises_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(driver, "VENDORS", (replace(CUDA, sim=tmp_path / "nothing"), HIP))
    with pytest.raises(ShimError, match=r"the CPU driver is not built; run `python build\.py build`"):
        discover("sim")


@pytest.mark.timeout(20)
def test_pipe_or_device_in_place_of_a_driver_is_refused_at_once(tmp_path: Path) -> None:
    """To open a pipe waits until another process opens it for writing."""
    os.mkfifo(tmp_path / "pipe.so")
    for path in (tmp_path / "pipe.so", Path("/dev/zero")):
        with pytest.raises(UsageError, match="is not a regular file"):
            discover(str(path))


def test_library_without_driver_exports_is_refused_by_name(
    make_library: Callable[..., Path], tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="exports no cuInit and no hipInit"):
        discover(str(make_library("other.so", "zeInit")))
    with pytest.raises(UsageError, match="No such file or directory"):
        discover(str(tmp_path / "nothing"))
    with pytest.raises(UsageError, match="Is a directory"):
        discover(str(tmp_path))


def test_shim_is_not_taken_for_the_driver(driver_file: Path, cache: dict[str, str]) -> None:
    """A shim before a shim would call itself for ever: named, it is refused; found, it is passed over."""
    shim = shim_for(discover(str(driver_file)), environment=cache)
    with pytest.raises(ShimError, match="one of our shims"):
        discover(str(shim.path))
    folders = f"{shim.path.parent}:{driver_file.parent}"
    assert discover("auto", {"LD_LIBRARY_PATH": folders}).path == driver_file.resolve()


def test_vendor_follows_from_exports(make_library: Callable[..., Path], driver_file: Path) -> None:
    result = discover(str(make_library("renamed.so", "hipInit")))
    assert (result.api, result.vendor.name, result.is_sim) == ("hip", "HIP", False)
    assert discover(str(driver_file)).api == "cuda"


@pytest.mark.usefixtures("amd_gpu")
def test_auto_prefers_cuda_driver_to_hip_driver(
    make_library: Callable[..., Path], driver_file: Path, tmp_path: Path
) -> None:
    """The order of folders does not matter; `hip` and `api` still select the HIP driver."""
    hip = make_library("hip/libamdhip64.so.5", "hipInit", soname="libamdhip64.so.5")
    (tmp_path / "usual").mkdir()
    (tmp_path / "usual" / "libcuda.so.1").symlink_to(driver_file)
    environment = {"LD_LIBRARY_PATH": str(hip.parent)}
    assert discover("auto", environment).path == driver_file.resolve()
    assert discover("hip", environment).path == hip
    assert discover("auto", environment, api="hip").path == hip
    (tmp_path / "usual" / "libcuda.so.1").unlink()
    assert discover("auto", environment).path == hip
    assert discover("auto", environment).origin == "LD_LIBRARY_PATH"


def test_auto_without_amd_gpu_skips_hip_driver(
    make_library: Callable[..., Path], driver_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Debian's libamdhip64-5 is installed on machines without an AMD GPU, as a dependency."""
    make_library("usual/libamdhip64.so.5", "hipInit")
    monkeypatch.setattr(driver, "VENDORS", (replace(CUDA, sim=driver_file), driver.HIP))
    result = discover("auto", {})
    assert (result.api, result.is_sim) == ("cuda", True)
    assert "libamdhip64.so.5 is not used: this machine has no AMD GPU" in result.origin
    assert discover("hip", {}).api == "hip"


@pytest.mark.usefixtures("amd_gpu", "no_hip_headers")
def test_auto_without_hip_headers_skips_hip_driver(
    make_library: Callable[..., Path], driver_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The AMD GPU of a laptop's processor is enough for /dev/kfd. A replay needs no shim, hence no headers."""
    hip = make_library("usual/libamdhip64.so.5", "hipInit")
    monkeypatch.setattr(driver, "VENDORS", (replace(CUDA, sim=driver_file), driver.HIP))
    result = discover("auto", {})
    assert (result.api, result.is_sim) == ("cuda", True)
    assert "is not used: no hip/hip_runtime_api.h found: install it" in result.origin
    assert discover("auto", {}, api="hip").path == hip


@pytest.mark.usefixtures("no_hip_headers")
def test_named_hip_driver_without_headers_is_refused_in_one_line(
    make_library: Callable[..., Path], cache: dict[str, str]
) -> None:
    make_library("usual/libamdhip64.so.5", "hipInit")
    with pytest.raises(
        ShimError, match=r"cannot build a shim for the HIP driver .*: .*: install it"
    ) as raised:
        shim_for(discover("hip", {}), environment=cache)
    assert "\n" not in str(raised.value)


def test_cuda_driver_has_no_obstacle(driver_file: Path) -> None:
    assert find_obstacle(discover(str(driver_file)), {}) is None


def test_the_newest_hip_of_a_folder_is_taken(make_library: Callable[..., Path]) -> None:
    for name in ("libamdhip64.so.5", "libamdhip64.so.7", "libamdhip64.so.6"):
        make_library(f"usual/{name}", "hipInit")
    assert discover("hip", {}).path.name == "libamdhip64.so.7"


def test_rocm_is_looked_for_where_it_is_installed(make_library: Callable[..., Path], tmp_path: Path) -> None:
    """ROCM_PATH, the chosen one, then the newest: 6.10 is newer than 6.2."""
    older = make_library("opt/rocm-6.2.4/lib/libamdhip64.so.6", "hipInit")
    newer = make_library("opt/rocm-6.10.0/lib/libamdhip64.so.6", "hipInit")
    assert discover("hip", {}).path == newer
    assert discover("hip", {}).origin == str(newer.parent)
    (tmp_path / "opt" / "rocm").symlink_to(tmp_path / "opt" / "rocm-6.2.4")
    assert discover("hip", {}).path == older
    named = make_library("mine/lib/libamdhip64.so.5", "hipInit")
    assert discover("hip", {"ROCM_PATH": str(tmp_path / "mine")}).path == named


def test_missing_hip_driver_raises_one_line() -> None:
    with pytest.raises(ShimError, match=r"no HIP driver found: .*; install ROCm's") as raised:
        discover("hip", {})
    assert "\n" not in str(raised.value)


def test_driver_of_other_vendor_is_refused(make_library: Callable[..., Path], driver_file: Path) -> None:
    hip = make_library("libamdhip64.so.6", "hipInit")
    with pytest.raises(UsageError, match="is a HIP driver, but a CUDA driver is needed"):
        discover(str(hip), {}, api="cuda")
    with pytest.raises(UsageError, match="hip-sim is a HIP driver"):
        discover("hip-sim", {}, api="cuda")
    with pytest.raises(UsageError, match="is a CUDA driver, but a HIP driver is needed"):
        discover(str(driver_file), {}, api="hip")


def test_the_cpu_driver_is_of_the_vendor_that_is_needed(
    make_library: Callable[..., Path], driver_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hip = replace(HIP, sim=make_library("libamdhip64.so.5", "hipInit"))
    monkeypatch.setattr(driver, "VENDORS", (replace(CUDA, sim=driver_file), hip))
    monkeypatch.setattr(driver, "HIP", hip)
    for result in (discover("hip-sim", {}), discover("sim", {}, api="hip"), discover("auto", {}, api="hip")):
        assert (result.path, result.api, result.is_sim) == (hip.sim.resolve(), "hip", True)
    assert discover("auto", {}).api == "cuda"


def test_shim_has_its_drivers_soname() -> None:
    """As programs name it to the loader; what a driver calls itself else does not choose a file."""
    assert HIP.shim_name("libamdhip64.so.6") == "libamdhip64.so.6"
    assert HIP.shim_name("../libamdhip64.so.6") == "libamdhip64.so.5"
    assert HIP.shim_name("surface.json") == "libamdhip64.so.5"
    assert CUDA.shim_name("libcuda.so.1") == "libcuda.so.1"
    assert CUDA.shim_name("libamdhip64.so.6") == "libcuda.so.1"


def test_library_that_was_replaced_is_read_again(make_library: Callable[..., Path]) -> None:
    """A service runs for days, and drivers are updated meanwhile."""
    library = make_library("libcuda.so.1", "cuInit")
    assert "cuNewCall" not in discover(str(library)).exports.names
    make_library("new.so", "cuInit", "cuNewCall").replace(library)
    assert "cuNewCall" in discover(str(library)).exports.names


def test_failed_ldconfig_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else one time-out would hide the GPU from a service until it ends."""
    program = tmp_path / "ldconfig"
    monkeypatch.setattr(driver, "_LDCONFIG", (str(program),))
    assert LOADER_CACHE((0,)) == ""
    program.write_text("#!/bin/sh\necho found\n")
    program.chmod(0o755)
    assert LOADER_CACHE((0,)) == "found\n"
    program.unlink()
    assert LOADER_CACHE((0,)) == "found\n"


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Path]:
    """The libraries that are parsed, from now on and with an empty cache, in processes that begin anew."""
    paths: list[Path] = []

    def parse(path: Path) -> tuple[DriverExports, bool]:
        paths.append(path)
        return read(path)

    read = driver._parse_library
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(remembered, "SETTLED_SECONDS", 0.0)
    monkeypatch.setattr(driver, "_parse_library", parse)
    monkeypatch.setattr(driver, "_read_library", driver._read_library.__wrapped__)
    return paths


def test_driver_is_parsed_once_by_several_processes(driver_file: Path, parsed: list[Path]) -> None:
    first, second = discover(str(driver_file)), discover(str(driver_file))
    assert first == second
    assert parsed == [driver_file]


def test_driver_that_was_replaced_is_parsed_anew(
    make_library: Callable[..., Path], parsed: list[Path]
) -> None:
    """As after an update of the driver: an export that the new one lacks must not be found."""
    path = make_library("libcuda.so.1", "cuInit", "cuOld")
    assert set(discover(str(path)).exports.names) == {"cuInit", "cuOld"}
    path.unlink()
    make_library("libcuda.so.1", "cuInit", "cuNew")
    assert set(discover(str(path)).exports.names) == {"cuInit", "cuNew"}
    assert parsed == [path, path]


def test_shim_in_place_of_a_driver_is_refused_again(
    driver_file: Path, parsed: list[Path], cache: dict[str, str]
) -> None:
    shim = shim_for(discover(str(driver_file)), environment=cache)
    for _ in range(2):
        with pytest.raises(ShimError, match="one of our shims"):
            discover(str(shim.path))
    assert parsed == [driver_file, shim.path]
