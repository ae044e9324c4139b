"""Find the real driver as the loader would, without loading it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile

from benchguard.codegen.errors import CodegenError
from benchguard.codegen.exports import DriverExports, read_exports

from .errors import ShimError
from .paths import SIM, SONAME

PROBE = "cuInit"
"""An export that every CUDA driver has."""

_SHIM_NOTE = ".note.neutrino"  # in every shim, by codegen/emit/surface_s.py
_LDCONFIG = ("/sbin/ldconfig", "/usr/sbin/ldconfig", "ldconfig")
_CACHE_LINE = re.compile(rf"^\s*{re.escape(SONAME)} \((?P<flags>[^)]*)\) => (?P<path>\S.*)$", re.MULTILINE)
_DEFAULT_FOLDERS = (
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
    "/usr/local/nvidia/lib64",  # where container runtimes mount it
    "/usr/local/nvidia/lib",
    "/usr/lib/wsl/lib",
)


@dataclass(frozen=True)
class Driver:
    """A driver library: its resolved path, what it exports, and how it was found."""

    path: Path
    exports: DriverExports
    origin: str

    @property
    def soname(self) -> str:
        return self.exports.soname

    @property
    def build_id(self) -> str | None:
        return self.exports.build_id

    @property
    def is_sim(self) -> bool:
        """Whether this is the packaged CPU driver."""
        return self.path == SIM.resolve()


def discover(spec: str = "auto", environment: Mapping[str, str] | None = None) -> Driver:
    """The driver that `spec` asks for: "auto", "sim" or a path.

    "auto" is the machine's driver by the loader's rules, and the packaged CPU driver where there is none.
    Raises ShimError if the driver asked for is not there or is none.
    """
    if spec == "sim":
        return _sim("asked for")
    if spec != "auto":
        return read_driver(Path(spec), "named")
    environment = os.environ if environment is None else environment
    for path, origin in _candidates(environment):
        if path.is_file():
            try:
                return read_driver(path, origin)
            except ShimError:
                continue  # as the loader does with a library that does not fit
    return _sim("no GPU driver found")


def read_driver(path: Path, origin: str) -> Driver:
    """The driver at a path. Raises ShimError unless it is an x86-64 library with cuInit, and no shim."""
    try:
        resolved = path.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or "links to itself"
        raise ShimError(f"{path}: {reason}; give auto, sim or the path of a {SONAME}") from error
    try:
        exports = read_exports(resolved)
    except CodegenError as error:
        raise ShimError(str(error)) from error
    if PROBE not in exports.names:
        raise ShimError(
            f"{path}: is no CUDA driver, it exports no {PROBE}; give auto, sim or the path of a {SONAME}"
        )
    if _is_shim(resolved):
        raise ShimError(f"{path}: is a shim of ours, not a driver; give the path of the real {SONAME}")
    return Driver(resolved, exports, origin)


def _sim(origin: str) -> Driver:
    if not SIM.is_file():
        raise ShimError(f"{SIM}: the CPU driver is not built; run `python build.py build`")
    return read_driver(SIM, f"CPU driver ({origin})")


def _is_shim(path: Path) -> bool:
    with path.open("rb") as stream:
        return ELFFile(stream).get_section_by_name(_SHIM_NOTE) is not None


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    for folder in re.split("[:;]", environment.get("LD_LIBRARY_PATH", "")):
        if folder:
            yield Path(folder) / SONAME, "LD_LIBRARY_PATH"
    for path in cached_libraries(_loader_cache()):
        yield path, "ld.so.cache"
    for folder in _DEFAULT_FOLDERS:
        yield Path(folder) / SONAME, folder


def cached_libraries(listing: str) -> list[Path]:
    """The x86-64 drivers in what `ldconfig -p` prints, in the loader's order."""
    return [Path(m["path"]) for m in _CACHE_LINE.finditer(listing) if "x86-64" in m["flags"]]


def _loader_cache() -> str:
    for program in _LDCONFIG:
        try:
            done = subprocess.run([program, "-p"], capture_output=True, text=True, timeout=10, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return done.stdout
    return ""  # no cache, as on musl: the folders are left
