"""Find the real driver as the loader would, without loading it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from benchguard.codegen import exports as codegen_exports
from benchguard.codegen.errors import CodegenError
from benchguard.codegen.exports import DriverExports, read_exports

from ..toolchain.errors import DriverChoiceError, ShimError
from .remembered import facts_of, remembered
from .tools import find_tools
from .vendors import CUDA, HIP, VENDORS, Api, Vendor

SPECS = "auto, sim, hip, hip-sim or the path of a libcuda.so.1 or libamdhip64.so"
"""Drivers that `discover` accepts."""

_SHIM_NOTE = ".note.neutrino"  # in every shim, by codegen/emit/surface_s.py
_LDCONFIG = ("/sbin/ldconfig", "/usr/sbin/ldconfig", "ldconfig")
_CACHE_FILE = Path("/etc/ld.so.cache")
_CACHE_LINE = re.compile(r"^\s*(?P<soname>\S+) \((?P<flags>[^)]*)\) => (?P<path>\S.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Driver:
    """A driver library: its resolved path, its exports, how it was found, and its vendor."""

    path: Path
    exports: DriverExports
    origin: str
    vendor: Vendor

    @property
    def api(self) -> Api:
        return self.vendor.api

    @property
    def soname(self) -> str:
        return self.exports.soname

    @property
    def build_id(self) -> str | None:
        return self.exports.build_id

    @property
    def is_sim(self) -> bool:
        """Whether this is the packaged CPU driver, with CUDA's or HIP's functions."""
        return self.path == self.vendor.sim.resolve()


def discover(
    spec: str = "auto", environment: Mapping[str, str] | None = None, api: Api | None = None
) -> Driver:
    """Find the driver that `spec` asks for: "auto", "sim", "hip", "hip-sim" or a path.

    "auto" takes the first driver that can be used: CUDA's by the loader's rules, then HIP's, then the packaged CPU
    driver. With `api`, only drivers of that vendor are considered, and "sim" is that vendor's CPU driver.
    Raises DriverChoiceError if `spec` names no driver, or one of another vendor than `api`; ShimError if the driver is
    missing.
    """
    environment = os.environ if environment is None else environment
    if api == CUDA.api and spec in (
        HIP.api,
        HIP.sim_spec,
    ):  # before it is looked for: it may not be installed
        raise _wrong_vendor(spec, HIP, api)
    driver = _discover(spec, environment, [each for each in VENDORS if api in (None, each.api)])
    if api is not None and driver.api != api:
        raise _wrong_vendor(spec, driver.vendor, api)
    return driver


def _wrong_vendor(spec: str, vendor: Vendor, api: Api) -> DriverChoiceError:
    return DriverChoiceError(
        f"--driver {spec} is a {vendor.name} driver, but a {api.upper()} driver is needed; pass auto, sim, or the path "
        f"of a {api.upper()} driver"
    )


def find_obstacle(
    driver: Driver, environment: Mapping[str, str] | None = None, needs_shim: bool = True
) -> str | None:
    """Why programs cannot run on this driver here; None if they can.

    HIP's library is also installed on machines without an AMD GPU, as a dependency of other packages. There is no
    generic shim for HIP, so that observing a HIP program needs HIP's headers.
    """
    if driver.api != HIP.api:
        return None
    if not driver.is_sim and not driver.vendor.has_device():
        return f"this machine has no AMD GPU (no {' or '.join(driver.vendor.device_nodes)})"
    if not needs_shim:
        return None
    try:
        find_tools(
            driver.path, driver.soname, driver.vendor, os.environ if environment is None else environment
        )
    except (ShimError, CodegenError) as error:
        return str(error)
    return None


def _discover(spec: str, environment: Mapping[str, str], vendors: Sequence[Vendor]) -> Driver:
    if spec == "auto":
        return _choose(environment, vendors, needs_shim=len(vendors) > 1)
    if spec == "sim":
        return _sim(vendors[0], "asked for")
    if spec == HIP.sim_spec:
        return _sim(HIP, "asked for")
    if spec == HIP.api:
        driver = _find(environment, HIP)
        if driver is None:
            raise ShimError(
                f"no HIP driver found: no {' or '.join(HIP.sonames)} on the loader's path or in /opt/rocm/lib; "
                "install ROCm's hip-runtime-amd (Debian: libamdhip64-5), pass its path, or pass hip-sim for the CPU "
                "driver"
            )
        return driver
    return read_driver(Path(spec), "named")


def _choose(environment: Mapping[str, str], vendors: Sequence[Vendor], needs_shim: bool) -> Driver:
    """The first driver that programs can run on, else the CPU driver. A replay on a given vendor needs no shim."""
    reason = "no GPU driver found"
    for vendor in vendors:
        driver = _find(environment, vendor)
        obstacle = None if driver is None else find_obstacle(driver, environment, needs_shim)
        if driver is not None and obstacle is None:
            return driver
        if driver is not None:
            reason = f"{driver.path} is not used: {obstacle}"
    return _sim(vendors[0], reason)


def read_driver(path: Path, origin: str) -> Driver:
    """Read the driver at a path.

    Raises DriverChoiceError unless the file is an x86-64 driver library, and not one of our shims.
    """
    try:
        resolved = path.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or "links to itself"
        raise DriverChoiceError(f"{path}: {reason}; pass {SPECS}") from error
    try:
        exports, is_shim = _read_library(resolved, facts_of(resolved))
    except CodegenError as error:
        raise DriverChoiceError(str(error)) from error
    vendor = next((each for each in VENDORS if each.probe in exports.names), None)
    if vendor is None:
        probes = " and no ".join(each.probe for each in VENDORS)
        raise DriverChoiceError(f"{path}: not a GPU driver, it exports no {probes}; pass {SPECS}")
    if is_shim:
        raise DriverChoiceError(
            f"{path}: one of our shims, not a driver; pass the path of the real {vendor.library}"
        )
    return Driver(resolved, exports, origin, vendor)


def _find(environment: Mapping[str, str], vendor: Vendor) -> Driver | None:
    for path, origin in _candidates(vendor, environment):
        if path.is_file():
            try:
                driver = read_driver(path, origin)
            except ShimError:
                continue  # the loader also skips a library that does not fit
            if driver.api == vendor.api:
                return driver
    return None


def _sim(vendor: Vendor, origin: str) -> Driver:
    if not vendor.sim.is_file():
        needs = "" if vendor.api == "cuda" else ", where HIP's headers are"
        raise ShimError(f"{vendor.sim}: the CPU driver is not built; run `python build.py build`{needs}")
    return read_driver(vendor.sim, f"CPU driver ({origin})")


@lru_cache(maxsize=8)
def _read_library(path: Path, version: tuple[int, ...]) -> tuple[DriverExports, bool]:  # noqa: ARG001 - a key
    """The exports of a library, and whether it is a shim of ours. A grade asks several times; reading takes 30 ms."""
    read_by = [Path(__file__), Path(codegen_exports.__file__)]
    return remembered(
        "exports", (), (path, *read_by), tuple[DriverExports, bool], lambda: _parse_library(path)
    )


def _parse_library(path: Path) -> tuple[DriverExports, bool]:
    exports = read_exports(path)
    from elftools.elf.elffile import ELFFile  # noqa: PLC0415 - it takes 20 ms to import

    with path.open("rb") as stream:
        return exports, ELFFile(stream).get_section_by_name(_SHIM_NOTE) is not None


def _candidates(vendor: Vendor, environment: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    for folder in re.split("[:;]", environment.get("LD_LIBRARY_PATH", "")):
        if folder:
            yield from ((Path(folder) / soname, "LD_LIBRARY_PATH") for soname in vendor.sonames)
    listing = _loader_cache(facts_of(_CACHE_FILE))
    for soname in vendor.sonames:
        yield from ((path, "ld.so.cache") for path in cached_libraries(listing, soname))
    for folder in vendor.folders(environment):
        yield from ((folder / soname, str(folder)) for soname in vendor.sonames)


def cached_libraries(listing: str, soname: str) -> list[Path]:
    """The x86-64 libraries of that name in the output of `ldconfig -p`, in the loader's order."""
    return [
        Path(m["path"])
        for m in _CACHE_LINE.finditer(listing)
        if m["soname"] == soname and "x86-64" in m["flags"]
    ]


def _loader_cache(version: tuple[int, ...]) -> str:
    """The output of `ldconfig -p` for a version of the loader's cache.

    A failure is not kept: a service runs for days.
    """
    listing = _listing(version)
    if not listing:
        _listing.cache_clear()
    return listing


@lru_cache(maxsize=1)
def _listing(version: tuple[int, ...]) -> str:  # noqa: ARG001 - a key
    for program in _LDCONFIG:
        try:
            done = subprocess.run([program, "-p"], capture_output=True, text=True, timeout=10, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return done.stdout
    return ""  # musl has no cache: only the folders are searched
