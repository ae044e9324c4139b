"""Find the real driver as the loader would, without loading it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile

from benchguard.codegen.errors import CodegenError
from benchguard.codegen.exports import DriverExports, read_exports

from ..toolchain.errors import ShimError
from .vendors import HIP, VENDORS, Api, Vendor

SPECS = "auto, sim, hip, hip-sim or the path of a libcuda.so.1 or libamdhip64.so"
"""What `discover` takes."""

_SHIM_NOTE = ".note.neutrino"  # in every shim, by codegen/emit/surface_s.py
_LDCONFIG = ("/sbin/ldconfig", "/usr/sbin/ldconfig", "ldconfig")
_CACHE_LINE = re.compile(r"^\s*(?P<soname>\S+) \((?P<flags>[^)]*)\) => (?P<path>\S.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Driver:
    """A driver library: its resolved path, what it exports, how it was found, and whose it is."""

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
        """Whether this is the packaged CPU driver, with either vendor's functions."""
        return self.path == self.vendor.sim.resolve()


def discover(
    spec: str = "auto", environment: Mapping[str, str] | None = None, api: Api | None = None
) -> Driver:
    """The driver that `spec` asks for: "auto", "sim", "hip", "hip-sim" or a path.

    "auto" is the machine's driver by the loader's rules, CUDA's before HIP's, and the packaged CPU driver where there
    is none. With `api` it is that vendor's: no other is found, "sim" is the CPU driver that has its functions, and
    one of another vendor that is asked for by name is refused.
    Raises ShimError if the driver asked for is not there, is none or does not fit.
    """
    environment = os.environ if environment is None else environment
    driver = _discover(spec, environment, [each for each in VENDORS if api in (None, each.api)])
    if api is not None and driver.api != api:
        raise ShimError(
            f"{spec}: is a driver of {driver.vendor.name}, one of {api.upper()} is needed; give auto, sim or the path "
            "of one"
        )
    return driver


def _discover(spec: str, environment: Mapping[str, str], vendors: Sequence[Vendor]) -> Driver:
    if spec == "auto":
        return _find(environment, vendors) or _sim(vendors[0], "no GPU driver found")
    if spec == "sim":
        return _sim(vendors[0], "asked for")
    if spec == HIP.sim_spec:
        return _sim(HIP, "asked for")
    if spec == HIP.api:
        found = _find(environment, [HIP])
        if found is None:
            raise ShimError(
                f"no HIP driver found: no {' or '.join(HIP.sonames)} where the loader looks, nor in /opt/rocm/lib; "
                "install ROCm's hip-runtime-amd (Debian: libamdhip64-5), give its path, or hip-sim for the CPU driver"
            )
        return found
    return read_driver(Path(spec), "named")


def read_driver(path: Path, origin: str) -> Driver:
    """The driver at a path. Raises ShimError unless it is an x86-64 library with cuInit or hipInit, and no shim."""
    try:
        resolved = path.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or "links to itself"
        raise ShimError(f"{path}: {reason}; give {SPECS}") from error
    try:
        exports = read_exports(resolved)
    except CodegenError as error:
        raise ShimError(str(error)) from error
    vendor = next((each for each in VENDORS if each.probe in exports.names), None)
    if vendor is None:
        probes = " and no ".join(each.probe for each in VENDORS)
        raise ShimError(f"{path}: is no GPU driver, it exports no {probes}; give {SPECS}")
    if _is_shim(resolved):
        raise ShimError(
            f"{path}: is a shim of ours, not a driver; give the path of the real {vendor.library}"
        )
    return Driver(resolved, exports, origin, vendor)


def _find(environment: Mapping[str, str], vendors: Sequence[Vendor]) -> Driver | None:
    for vendor in vendors:
        for path, origin in _candidates(vendor, environment):
            if path.is_file():
                try:
                    driver = read_driver(path, origin)
                except ShimError:
                    continue  # as the loader does with a library that does not fit
                if driver.api == vendor.api:
                    return driver
    return None


def _sim(vendor: Vendor, origin: str) -> Driver:
    if not vendor.sim.is_file():
        needs = "" if vendor.api == "cuda" else ", where HIP's headers are"
        raise ShimError(f"{vendor.sim}: the CPU driver is not built; run `python build.py build`{needs}")
    return read_driver(vendor.sim, f"CPU driver ({origin})")


def _is_shim(path: Path) -> bool:
    with path.open("rb") as stream:
        return ELFFile(stream).get_section_by_name(_SHIM_NOTE) is not None


def _candidates(vendor: Vendor, environment: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    for folder in re.split("[:;]", environment.get("LD_LIBRARY_PATH", "")):
        if folder:
            yield from ((Path(folder) / soname, "LD_LIBRARY_PATH") for soname in vendor.sonames)
    listing = _loader_cache()
    for soname in vendor.sonames:
        yield from ((path, "ld.so.cache") for path in cached_libraries(listing, soname))
    for folder in vendor.folders(environment):
        yield from ((folder / soname, str(folder)) for soname in vendor.sonames)


def cached_libraries(listing: str, soname: str) -> list[Path]:
    """The x86-64 libraries of that name in what `ldconfig -p` prints, in the loader's order."""
    return [
        Path(m["path"])
        for m in _CACHE_LINE.finditer(listing)
        if m["soname"] == soname and "x86-64" in m["flags"]
    ]


def _loader_cache() -> str:
    for program in _LDCONFIG:
        try:
            done = subprocess.run([program, "-p"], capture_output=True, text=True, timeout=10, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return done.stdout
    return ""  # no cache, as on musl: the folders are left
