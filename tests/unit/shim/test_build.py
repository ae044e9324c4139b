"""A driver's shim: built once, exports just the driver's names, and what happens where it cannot be built."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchguard.codegen import generate
from benchguard.codegen.emit.shim_map import OWN
from benchguard.codegen.errors import CodegenError
from benchguard.codegen.exports import read_exports
from benchguard.codegen.hip import HipHeaders
from benchguard.codegen.surface import Surface
from benchguard.shim import build, remembered, tools
from benchguard.shim.build import Shim, shim_for
from benchguard.shim.driver import Driver, discover
from benchguard.toolchain.compiler import Compiler
from benchguard.toolchain.errors import ShimError

from .conftest import FUNCTIONS


@pytest.fixture
def driver(driver_file: Path) -> Driver:
    return discover(str(driver_file))


@pytest.fixture
def shim(driver: Driver, cache: dict[str, str]) -> Shim:
    return shim_for(driver, environment=cache)


def test_the_shim_has_the_drivers_names_and_soname(shim: Shim, driver: Driver) -> None:
    exports = read_exports(shim.path)
    assert sorted(exports.names) == sorted([*FUNCTIONS, *OWN])
    assert exports.soname == driver.soname
    assert shim.gap is None


def test_the_surface_lists_the_slots(shim: Shim, driver: Driver) -> None:
    surface = json.loads(shim.surface_path.read_text())
    assert [export["name"] for export in surface["exports"]] == list(driver.exports.names)
    kinds = {export["name"]: export["kind"] for export in surface["exports"]}
    assert (kinds["cuMemAlloc_v2"], kinds["cuCtxGetCurrent"], kinds["cuBrandNew"]) == (
        "recorded",
        "pass",
        "untyped",
    )


def test_calls_reach_the_driver(shim: Shim, driver: Driver) -> None:
    """Recorded, passed and untyped alike, the first call of each going through the resolving stub."""
    program = "import ctypes, sys\nlibrary = ctypes.CDLL(sys.argv[1])\n"
    program += "print(*(getattr(library, name)() for name in sys.argv[2:] * 2))"
    result = subprocess.run(
        [sys.executable, "-c", program, str(shim.path), *FUNCTIONS],
        capture_output=True, text=True, check=True, env={**os.environ, "NEUTRINO_DRIVER": str(driver.path)},
    )  # fmt: skip
    assert result.stdout.split() == [str(100 + n) for n in range(len(FUNCTIONS))] * 2


def test_second_build_compiles_nothing(shim: Shim, driver: Driver, cache: dict[str, str]) -> None:
    again = shim_for(driver, environment=cache)
    assert (again.path, again.built) == (shim.path, False)


def version_of_compiler(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with the version that $CC prints. $CC starts another compiler, so that it stays the same file."""
    version, compiler, log = folder / "version", folder / "compiler", folder / "calls"
    version.write_text("gcc 1\n")
    compiler.write_text(f"#!/bin/sh\necho called >>{log}\ncat {version}\n")
    compiler.chmod(0o755)
    log.touch()
    monkeypatch.setenv("CC", str(compiler))
    monkeypatch.setattr(remembered, "SETTLED_SECONDS", 0.0)
    return version


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The compiler's version at each build. A build only makes two empty files."""
    versions: list[str] = []

    def compile_library(compiler: Compiler, _: object, output: Path, *__: object) -> None:
        versions.append(compiler.version)
        output.touch()
        output.with_name("surface.json").touch()

    monkeypatch.setattr(build, "compile_library", compile_library)
    monkeypatch.setattr(build, "_prepare", lambda *_: None)
    return versions


def test_shim_that_exists_is_found_without_a_run_of_the_compiler(
    driver: Driver, tmp_path: Path, builds: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    version_of_compiler(tmp_path, monkeypatch)
    first = shim_for(driver, environment=environment)
    (tmp_path / "calls").unlink()
    again = shim_for(driver, environment=environment)
    assert (again.path, again.built, builds) == (first.path, False, ["gcc 1"])
    assert not (tmp_path / "calls").exists()


def test_shim_is_built_under_the_version_that_the_compiler_prints_now(
    driver: Driver, tmp_path: Path, builds: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not under the version that is remembered: $CC may start another compiler than before."""
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    version = version_of_compiler(tmp_path, monkeypatch)
    first = shim_for(driver, environment=environment)
    version.write_text("gcc 2\n")
    shutil.rmtree(first.path.parent)
    second = shim_for(driver, environment=environment)
    assert second.built
    assert second.path != first.path
    assert builds == ["gcc 1", "gcc 2"]


def test_two_builds_at_once_leave_one_whole_shim(driver: Driver, tmp_path: Path) -> None:
    """Whoever is second takes the first's result; no half-built folder stays behind."""
    environment = {"XDG_CACHE_HOME": str(tmp_path)}
    with ThreadPoolExecutor(2) as pool:
        shims = list(pool.map(lambda _: shim_for(driver, environment=environment), range(2)))
    assert shims[0].path == shims[1].path
    assert [path.name for path in (tmp_path / "neutrino-bench" / "shim").iterdir()] == [
        shims[0].path.parent.name
    ]
    assert ctypes.CDLL(str(shims[0].path)).cuInit is not None


@pytest.fixture
def generic(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A packaged shim that knows two of the driver's functions and one more."""
    names = ["cuInit", "cuMemAlloc_v2", "cuOlder"]
    surface = tmp_path / "surface.json"
    surface.write_text(json.dumps({"format": "…", "exports": [{"name": name} for name in names]}))
    monkeypatch.setattr(build, "GENERIC_SURFACE", surface)
    return surface


def test_without_a_compiler_the_generic_shim_is_used_and_its_gap_told(
    driver: Driver, cache: dict[str, str], generic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "/nonexistent/cc")
    shim = shim_for(driver, environment=cache)
    assert shim.gap is not None
    assert "no such program" in shim.gap.reason
    assert set(shim.gap.missing) == {"cuDriverGetVersion", "cuCtxGetCurrent", "cuBrandNew"}
    assert shim.gap.extra == ("cuOlder",)
    assert shim.surface_path == generic


def test_without_even_that_one_line_says_so(
    driver: Driver, cache: dict[str, str], generic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "/nonexistent/cc")
    generic.unlink()
    with pytest.raises(ShimError, match="the packaged generic shim is not there"):
        shim_for(driver, environment=cache)


def test_unwritable_cache_is_reported(driver: Driver, tmp_path: Path, generic: Path) -> None:
    """A file where the cache folder should be, as root may write anywhere."""
    (tmp_path / "file").write_text("")
    shim = shim_for(driver, environment={"XDG_CACHE_HOME": str(tmp_path / "file")})
    assert shim.gap is not None
    assert "set XDG_CACHE_HOME" in shim.gap.reason
    assert shim.surface_path == generic


@pytest.fixture
def hip_driver(make_library: Callable[..., Path]) -> Driver:
    return discover(str(make_library("libamdhip64.so.6", "hipInit", soname="libamdhip64.so.6")))


@pytest.fixture
def headers_of_5(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    headers = HipHeaders(tmp_path / "include", 50221153, "a test")
    monkeypatch.setattr(tools, "find_hip_headers", lambda _: headers)


@pytest.mark.parametrize("missing", ["compiler", "headers"])
def test_hip_has_no_generic_shim(
    hip_driver: Driver, cache: dict[str, str], monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    """One line says what to install."""

    def none(_: object) -> HipHeaders:
        raise CodegenError("no hip/hip_runtime_api.h found: install it")

    monkeypatch.setattr(tools, "find_hip_headers", none)
    if missing == "compiler":
        monkeypatch.setenv("CC", "/nonexistent/cc")
    with pytest.raises(
        ShimError, match=r"cannot build a shim for the HIP driver .*libamdhip64\.so\.6: .*(install|set CC)"
    ) as raised:
        shim_for(hip_driver, environment=cache)
    assert ("no such program" in str(raised.value)) == (missing == "compiler")
    assert "\n" not in str(raised.value)


@pytest.mark.usefixtures("headers_of_5")
def test_headers_of_another_release_of_hip_are_refused(hip_driver: Driver, cache: dict[str, str]) -> None:
    """Structures differ between releases: hooks made with the wrong header would read beyond the structure."""
    with pytest.raises(ShimError, match="the driver is HIP 6 but the headers of a test are HIP 5"):
        shim_for(hip_driver, environment=cache)


@pytest.mark.usefixtures("headers_of_5")
def test_headers_beside_the_driver_are_taken(
    hip_driver: Driver, cache: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in /opt/rocm-6.2/lib and /opt/rocm-6.2/include, whichever ROCm is the machine's own."""
    root = hip_driver.path.parent
    library = root / "lib" / hip_driver.path.name
    library.parent.mkdir()
    hip_driver.path.rename(library)
    (root / "include" / "hip").mkdir(parents=True)
    (root / "include" / "hip" / "hip_runtime_api.h").touch()
    (root / "include" / "hip" / "hip_version.h").write_text(
        "".join(f"#define HIP_VERSION_{part} {n}\n" for part, n in (("MAJOR", 6), ("MINOR", 2), ("PATCH", 1)))
    )
    results: list[HipHeaders] = []

    def surface(headers: HipHeaders, *_: object) -> Surface:
        results.append(headers)
        raise CodegenError("enough")

    monkeypatch.setattr(generate, "hip_surface", surface)
    with pytest.raises(ShimError, match="enough"):
        shim_for(discover(str(library)), environment=cache)
    assert [(each.folder, each.version) for each in results] == [(root / "include", 60200001)]
